// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/mount_device.h"

namespace augur {

// Whether an open folder is of this file system. Asks no daemon.
bool LiesOn(int folder, const MountDevice& mount);

// MountRoot is the root folder of our mount, held open while it exists. One thread. Not for the daemon: it would ask
// itself.
class MountRoot {
 public:
  // By the mount's path: while this exists, a plain umount says that the mount is in use. kChanged: what lies at `path`
  // is not the mount that was there. Others: it cannot be reached.
  static Result<MountRoot> Open(const std::string& path, const MountDevice& mount);
  // By a clone of the mount (CloneMount), which a umount does not mind.
  explicit MountRoot(UniqueFd clone) : folder_(std::move(clone)) {}

  // Makes the kernel know the inode at `path` (relative, "" is the root): a LOOKUP for each part that it does not know,
  // and no other request. Nothing when there is no such path, or it is longer than the system takes.
  void Stat(const std::string& path) const;

  // Drops the file's clean pages from the page cache. Nothing when the file cannot be opened for reading.
  void Drop(const std::string& path) const;

  // Which of the system's mounts it is: unlike the device's, its number is not given to a later one (Linux 6.8; before,
  // to none while this one is there). 0: not known.
  uint64_t mount_id() const;

  int fd() const { return folder_.get(); }

 private:
  UniqueFd folder_;
};

}  // namespace augur
