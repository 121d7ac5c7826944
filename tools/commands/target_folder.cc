// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/target_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/units.h"

namespace augur {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
// While we write, no other user looks in, and a folder that was packed read-only can be written.
constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;

std::array<timespec, 2> Times(const Entry& entry) {
  timespec access{};
  access.tv_nsec = UTIME_OMIT;
  timespec modified{};
  modified.tv_sec = entry.mtime_sec;
  modified.tv_nsec = entry.mtime_nsec;
  return {access, modified};
}

// `path` is for the message.
Status GiveAttributes(int fd, const Entry& entry, bool special_modes, const std::string& path) {
  mode_t mode = entry.mode & (special_modes ? 07777U : 01777U);
  if (!special_modes && entry.type == EntryType::kDirectory) {
    // A folder that is made in one with this bit has it, so that what is made in it has its group.
    struct stat found {};
    if (::fstat(fd, &found) != 0) return ErrnoStatus(errno, path);
    mode |= found.st_mode & S_ISGID;
  }
  // The mode comes after the bytes, for a write takes set-user-id away.
  if (::fchmod(fd, mode) != 0) return ErrnoStatus(errno, path);
  if (::futimens(fd, Times(entry).data()) != 0) return ErrnoStatus(errno, path);
  return Status::Ok();
}

}  // namespace

Result<std::shared_ptr<const TargetFolder>> TargetFolder::OpenTop(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) return ErrnoStatus(errno, Printable(path));
  UniqueFd fd(::open(path.c_str(), kFolderFlags));
  if (!fd.valid()) return ErrnoStatus(errno, Printable(path));
  return std::make_shared<const TargetFolder>(std::move(fd), Printable(path));
}

Result<std::shared_ptr<const TargetFolder>> TargetFolder::OpenFolder(const std::string& name) const {
  UniqueFd fd(::openat(fd_.get(), name.c_str(), kFolderFlags | O_NOFOLLOW));
  if (!fd.valid()) return ErrnoStatus(errno, PathOf(name));
  return std::make_shared<const TargetFolder>(std::move(fd), PathOf(name));
}

Result<std::shared_ptr<const TargetFolder>> TargetFolder::MakeFolder(const std::string& name, bool force) const {
  if (::mkdirat(fd_.get(), name.c_str(), kFolderMode) != 0) {
    if (errno != EEXIST) return ErrnoStatus(errno, PathOf(name));
    struct stat found {};
    if (::fstatat(fd_.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return ErrnoStatus(errno, PathOf(name));
    if (!S_ISDIR(found.st_mode)) {
      AUGUR_TRY(Clear(name, force));
      if (::mkdirat(fd_.get(), name.c_str(), kFolderMode) != 0) return ErrnoStatus(errno, PathOf(name));
    }
  }
  AUGUR_TRY_ASSIGN(folder, OpenFolder(name));
  struct stat found {};
  if (::fstat(folder->fd_.get(), &found) != 0) return ErrnoStatus(errno, PathOf(name));
  const bool closed = (found.st_mode & kFolderMode) != kFolderMode;
  // When it fails, the first write below says what is the matter.
  if (closed) (void)::fchmod(folder->fd_.get(), (found.st_mode & 07777U) | kFolderMode);
  return folder;
}

Result<UniqueFd> TargetFolder::MakeFile(const std::string& name, bool force) const {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(::openat(fd_.get(), name.c_str(), flags, kFileMode));
  if (!fd.valid() && errno == EEXIST) {
    AUGUR_TRY(Clear(name, force));
    fd.Reset(::openat(fd_.get(), name.c_str(), flags, kFileMode));
  }
  if (!fd.valid()) return ErrnoStatus(errno, PathOf(name));
  return fd;
}

Status TargetFolder::WriteFile(const std::string& name, const Entry& attributes, bool force, bool special_modes,
                               const Fill& fill) const {
  AUGUR_TRY_ASSIGN(fd, MakeFile(name, force));
  const std::string path = PathOf(name);
  Status written = fill(fd.get(), path);
  if (written.ok()) written = GiveAttributes(fd.get(), attributes, special_modes, path);
  // A server may say only now that it has no room for what was written.
  if (::close(fd.Release()) != 0 && written.ok()) written = ErrnoStatus(errno, path);
  if (!written.ok()) (void)::unlinkat(fd_.get(), name.c_str(), 0);
  return written;
}

Status TargetFolder::MakeSymlink(const Entry& link, std::string_view target, bool force) const {
  const std::string name(link.name);
  const std::string text(target);
  if (::symlinkat(text.c_str(), fd_.get(), name.c_str()) != 0) {
    if (errno != EEXIST) return ErrnoStatus(errno, PathOf(name));
    AUGUR_TRY(Clear(name, force));
    if (::symlinkat(text.c_str(), fd_.get(), name.c_str()) != 0) return ErrnoStatus(errno, PathOf(name));
  }
  if (::utimensat(fd_.get(), name.c_str(), Times(link).data(), AT_SYMLINK_NOFOLLOW) != 0) {
    return ErrnoStatus(errno, PathOf(name));
  }
  return Status::Ok();
}

Status TargetFolder::SetAttributes(const Entry& entry, bool special_modes) const {
  return GiveAttributes(fd_.get(), entry, special_modes, path_);
}

Status TargetFolder::Clear(const std::string& name, bool force) const {
  if (!force) return {Code::kExists, PathOf(name) + ": it is there already; --force replaces files that are there"};
  if (::unlinkat(fd_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return Status::Ok();
  if (errno == EISDIR) return {Code::kExists, PathOf(name) + ": a folder is in the place of a file; remove it first"};
  return ErrnoStatus(errno, PathOf(name));
}

std::string TargetFolder::PathOf(std::string_view name) const { return path_ + "/" + Printable(name); }

}  // namespace augur
