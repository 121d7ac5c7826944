// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "fuse/mount_device.h"

namespace augur {

// ConnectionAbort ends the FUSE connection of a mount whose daemon is dead: every request on it fails, as it does by
// itself once the last descriptor of /dev/fuse is closed. That may never come: a thread that was pushing pages may
// wait, deaf even to SIGKILL, for a page that is locked until a READ is answered. With the thread stay its descriptors,
// the mount and its readers.
//
// Uses the file abort of /sys/fs/fuse/connections, which belongs to the mounting user; root does not need that folder
// to be mounted. Where neither can be had, as in a user namespace, root has a forced umount that is kept from
// succeeding. The dead mount stays where it is, and its readers see errors and not an empty folder. One thread.
class ConnectionAbort {
 public:
  // Prepares the abort of the mount at `path`, while that is sure to be there: the file works also when the mount is
  // detached or these rights are gone.
  ConnectionAbort(std::string path, const MountDevice& mount);

  // Nothing when the connection is gone already, or there is no way to abort it. A later mount at the path is left
  // alone, also when it has got the device number of the one that is gone.
  void Abort();

 private:
  const std::string path_;
  const MountDevice mount_;
  const UniqueFd file_;      // of this connection alone
  const uint64_t mount_id_;  // MountRoot::mount_id
};

}  // namespace augur
