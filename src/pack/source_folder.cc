// SPDX-License-Identifier: Apache-2.0
#include "pack/source_folder.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/units.h"

namespace augur {

Result<std::unique_ptr<SourceFolder>> SourceFolder::Open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info = {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, Printable(path));
  return std::unique_ptr<SourceFolder>(new SourceFolder(path, std::move(fd), info));
}

int SourceFolder::OpenAt(const std::string& path, int flags) const {
  struct open_how how = {};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_NO_SYMLINKS;
  const int fd = static_cast<int>(::syscall(SYS_openat2, fd_.get(), path.c_str(), &how, sizeof how));
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
  // Before Linux 5.6, or under a container's filter that does not know the call: O_NOFOLLOW guards the last component.
  return ::openat(fd_.get(), path.c_str(), flags);
}

Result<UniqueFd> SourceFolder::OpenFolder(const std::string& path) const {
  const std::string& name = path.empty() ? "." : path;
  UniqueFd fd(OpenAt(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, Describe(path));
  return fd;
}

Result<UniqueFd> SourceFolder::OpenFile(const std::string& path, struct stat* info) const {
  // O_NONBLOCK: a fifo that has taken the file's place must not hang us. O_NOATIME saves a write of the inode for each
  // file, and is the owner's alone.
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  UniqueFd fd(OpenAt(path, noatime_ ? flags | O_NOATIME : flags));
  if (!fd.valid() && errno == EPERM && noatime_) {
    fd.Reset(OpenAt(path, flags));
    if (fd.valid()) noatime_ = false;  // somebody else's file: the others are likely to be, too
  }
  if (!fd.valid() && errno == ELOOP) return Status(Code::kChanged, Describe(path) + ": became a symbolic link");
  if (!fd.valid() || ::fstat(fd.get(), info) != 0) return ErrnoStatus(errno, Describe(path));
  if (!S_ISREG(info->st_mode)) return Status(Code::kChanged, Describe(path) + ": is not a regular file any more");
  return fd;
}

std::string SourceFolder::Describe(const std::string& path) const {
  if (path.empty()) return Printable(path_);
  return Printable(path_.ends_with('/') ? path_ + path : path_ + "/" + path);
}

Attributes AttributesOf(const struct stat& info) {
  return {.mode = info.st_mode & 07777U,
          .mtime_sec = info.st_mtim.tv_sec,
          .mtime_nsec = static_cast<uint32_t>(info.st_mtim.tv_nsec)};
}

}  // namespace augur
