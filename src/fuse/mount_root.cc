// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount_root.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/units.h"
#include "fs/file_system.h"

namespace augur {
namespace {

// STATX_MNT_ID_UNIQUE of Linux 6.8.
constexpr unsigned kUniqueMountId = 0x4000;

// Without asking the daemon for attributes that have expired: only the LOOKUP is wanted. With a mask of 0 the kernel
// tells device and mount also to those who may not look into the mount.
bool StatQuietly(int folder, const char* path, struct statx* out, unsigned mask = 0) {
  constexpr int kFlags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  return statx(folder, path, kFlags, mask, out) == 0;
}

}  // namespace

bool LiesOn(int folder, const MountDevice& mount) {
  struct statx found {};
  return StatQuietly(folder, "", &found) && found.stx_dev_major == mount.major && found.stx_dev_minor == mount.minor;
}

Result<MountRoot> MountRoot::Open(const std::string& path, const MountDevice& mount) {
  UniqueFd folder(open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return ErrnoStatus(errno, Printable(path));
  struct statx found {};
  if (!StatQuietly(folder.get(), "", &found)) return ErrnoStatus(errno, Printable(path));
  if (found.stx_dev_major != mount.major || found.stx_dev_minor != mount.minor || found.stx_ino != kRootNode) {
    return Status(Code::kChanged, Printable(path) +
                                      ": our mount cannot be seen there (something is mounted over it, it has been "
                                      "unmounted, or it lies in another mount namespace)");
  }
  return MountRoot(std::move(folder));
}

uint64_t MountRoot::mount_id() const {
  struct statx found {};
  if (StatQuietly(folder_.get(), "", &found, kUniqueMountId) && (found.stx_mask & kUniqueMountId) != 0) {
    return found.stx_mnt_id;
  }
  const bool is_known = StatQuietly(folder_.get(), "", &found) && (found.stx_mask & STATX_MNT_ID) != 0;
  return is_known ? found.stx_mnt_id : 0;
}

void MountRoot::Stat(const std::string& path) const {
  struct statx ignored {};
  (void)StatQuietly(folder_.get(), path.c_str(), &ignored);
}

void MountRoot::Drop(const std::string& path) const {
  const UniqueFd file(openat(folder_.get(), path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (file.valid()) (void)posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace augur
