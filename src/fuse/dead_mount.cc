// SPDX-License-Identifier: Apache-2.0
#include "fuse/dead_mount.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "base/unique_fd.h"

namespace augur {
namespace {

bool IsGone(int result) { return result != 0 && (errno == ENOTCONN || errno == ECONNABORTED); }

// Whether it is gone for its owner. The kernel shuts everybody else out of a mount without allow_other, root too, and
// before it looks whether anybody serves it: stat(2) then fails with EACCES and statfs(2) makes its answer up.
bool IsGoneForOwner(const MountRow& mount) {
  const UniqueFd point(open(mount.mount_point.c_str(), O_PATH | O_CLOEXEC));  // the owner may not reach it by its path
  if (!point.valid()) return false;
  bool gone = false;
  // The calls of libc would change the user of all threads; a thread that ends takes its own user with it.
  std::thread([&] {
    if (syscall(SYS_setresgid, mount.group, mount.group, mount.group) != 0) return;
    if (syscall(SYS_setresuid, mount.user, mount.user, mount.user) != 0) return;
    struct statfs numbers {};
    gone = IsGone(fstatfs(point.get(), &numbers));
  }).join();
  return gone;
}

}  // namespace

bool IsDead(const MountRow& mount) {
  // stat(2) alone does not tell: the kernel answers it from its memory for days. statfs(2) is always a request.
  struct stat attributes {};
  struct statfs numbers {};
  if (IsGone(stat(mount.mount_point.c_str(), &attributes))) return true;
  if (IsGone(statfs(mount.mount_point.c_str(), &numbers))) return true;
  return geteuid() == 0 && mount.user != 0 && IsGoneForOwner(mount);
}

}  // namespace augur
