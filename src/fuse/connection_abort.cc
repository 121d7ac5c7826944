// SPDX-License-Identifier: Apache-2.0
#include "fuse/connection_abort.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <utility>

#include "fuse/mount_root.h"

namespace augur {
namespace {

// The file abort, or nothing.
UniqueFd OpenAbortFile(const MountDevice& mount) {
  // A FUSE mount without a block device has major number 0, and the connection bears the minor one.
  const std::string name = std::to_string(mount.minor) + "/abort";
  UniqueFd mounted(open(("/sys/fs/fuse/connections/" + name).c_str(), O_WRONLY | O_CLOEXEC));
  if (mounted.valid()) return mounted;
  // Few containers have it there. Root mounts it in no folder, for as long as the file is open.
  const UniqueFd system(fsopen("fusectl", FSOPEN_CLOEXEC));
  if (!system.valid() || fsconfig(system.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return {};
  const UniqueFd root(fsmount(system.get(), FSMOUNT_CLOEXEC, 0));
  if (!root.valid()) return {};
  return UniqueFd(openat(root.get(), name.c_str(), O_WRONLY | O_CLOEXEC));
}

uint64_t MountId(const std::string& path, const MountDevice& mount) {
  const Result<MountRoot> root = MountRoot::Open(path, mount);
  return root.ok() ? root->mount_id() : 0;
}

}  // namespace

ConnectionAbort::ConnectionAbort(std::string path, const MountDevice& mount)
    : path_(std::move(path)), mount_(mount), file_(OpenAbortFile(mount)), mount_id_(MountId(path_, mount)) {}

void ConnectionAbort::Abort() {
  if (file_.valid() && write(file_.get(), "1", 1) == 1) return;
  // While its root is open the mount is in use, so that umount(2) can do no more than abort. By the root and not by its
  // path, as what lies there may be exchanged meanwhile.
  const Result<MountRoot> root = MountRoot::Open(path_, mount_);
  if (!root.ok() || root->mount_id() != mount_id_) return;
  (void)umount2(("/proc/self/fd/" + std::to_string(root->fd())).c_str(), MNT_FORCE);
}

}  // namespace augur
