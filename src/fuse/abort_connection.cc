// SPDX-License-Identifier: Apache-2.0
#include "fuse/abort_connection.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "fuse/mount_root.h"

namespace augur {

void AbortConnection(const std::string& path, const HelperMount& mount) {
  // A FUSE mount without a block device has major number 0, and the connection bears the minor one.
  const std::string file = "/sys/fs/fuse/connections/" + std::to_string(mount.minor) + "/abort";
  const UniqueFd abort(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (abort.valid() && write(abort.get(), "1", 1) == 1) return;
  // While its root is open the mount is in use, so that umount(2) can do no more than abort.
  const Result<MountRoot> root = MountRoot::Open(path, mount);
  if (root.ok()) (void)umount2(path.c_str(), MNT_FORCE | UMOUNT_NOFOLLOW);
}

}  // namespace augur
