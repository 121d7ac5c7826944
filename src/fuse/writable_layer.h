// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/mount_point.h"
#include "fuse/writable_folder.h"

namespace augur {

struct WritableRequest {
  WritableFolder folder;
  std::string source;   // which /proc/mounts shows
  bool noexec = false;  // no program in it may be run
};

// WritableLayer is a small process of ours (augur-overlay) that lays an overlay over a mount, so that programs can
// write beside the data. That is the kernel's overlayfs for root, and fuse-overlayfs(1) for an ordinary user. It
// outlives the daemons of the mount, which come and go. It ends both mounts together: the mount when the overlay is
// gone from its folder, and the overlay when the mount is. Only when it is killed itself they end one by one.
// The methods are for one thread. Owns a socket to the process.
class WritableLayer {
 public:
  // Forks. `point` is where the overlay will be, and has been checked. REQUIRES: this process has one thread, and the
  // privileges that mounting takes. kIo: the system gives no process.
  static Result<WritableLayer> Fork(MountPoint& point, WritableRequest request);

  // Lays the overlay over the mount at WritableFolder::lower. `tree` as WritableFolder::Claim. Waits for the process.
  // REQUIRES: the mount answers other threads meanwhile; called once. Failures: as Claim; kUnsupported: this kernel,
  // the file system of the folder, or a missing fuse-overlayfs does not allow it, with the cure.
  Status Mount(const std::string& tree);

  // For a mount that failed, once it is unmounted: the process removes what WritableFolder::Make and Claim have made,
  // and ends. Waits for that. Does nothing when the overlay was laid, or in a process that has left.
  void GiveUp();

  // For a process that does not mount. Without an overlay the process does as after GiveUp when no other
  // process has the socket.
  void Leave() { socket_.Reset(); }

 private:
  explicit WritableLayer(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
};

}  // namespace augur
