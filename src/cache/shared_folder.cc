// SPDX-License-Identifier: Apache-2.0
#include "cache/shared_folder.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "base/file_lock.h"
#include "base/unique_fd.h"

namespace augur {
namespace {

constexpr mode_t kMode = 0700;

Status NotRootsAlone(const std::string& path, const char* cause) {
  return {Code::kPermission, path + ": " + cause + ": remove it, or unmount what is there"};
}

// The folder, if root alone can write to it or look into it.
Result<UniqueFd> OpenTrusted(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, path);
  if (info.st_uid != 0) return NotRootsAlone(path, "belongs to another user");
  if ((info.st_mode & 0777) != kMode) return NotRootsAlone(path, "is open to others than root");
  return fd;
}

// Whether the folder is the root of a tmpfs: what was only made there would be on the disk.
bool IsMounted(int fd) {
  struct statfs file_system {};
  struct stat info {};
  struct stat above {};
  return ::fstatfs(fd, &file_system) == 0 && file_system.f_type == TMPFS_MAGIC && ::fstat(fd, &info) == 0 &&
         ::fstatat(fd, "..", &above, 0) == 0 && info.st_dev != above.st_dev;
}

}  // namespace

Status PrepareRootFolder(const std::string& path) {
  if (::mkdir(path.c_str(), kMode) != 0 && errno != EEXIST) return ErrnoStatus(errno, path);
  AUGUR_TRY_ASSIGN(fd, OpenTrusted(path));
  if (IsMounted(fd.get())) return Status::Ok();
  // Two daemons would mount one over the other. The second one finds what the first has mounted when it looks again.
  if (const int error = LockFile(fd.get(), LOCK_EX); error != 0) return ErrnoStatus(error, path + ": cannot be locked");
  AUGUR_TRY_ASSIGN(again, OpenTrusted(path));
  if (IsMounted(again.get())) return Status::Ok();
  // Its size is half of the memory, as that of /dev/shm; what is not used of it takes none.
  if (::mount("augurfs-shm", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") != 0) {
    return ErrnoStatus(errno, path + ": cannot mount a tmpfs for what root shares between its mounts")
        .In("mount one there of mode 0700, or use cache=ram");
  }
  return Status::Ok();
}

Result<std::string> SharedMemoryFolder(std::optional<gid_t> group) {
  if (group || ::geteuid() != 0) return std::string(kSharedMemory);
  AUGUR_TRY(PrepareRootFolder(kRootSharedMemory));
  return std::string(kRootSharedMemory);
}

}  // namespace augur
