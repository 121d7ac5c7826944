// SPDX-License-Identifier: Apache-2.0
#include "pack/source_folder.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/read_at.h"
#include "base/units.h"
#include "pack/lister.h"

namespace augur {
namespace {

// Of a larger file many pieces are read in order, so that the system may read far ahead.
constexpr off_t kSequentialBytes = off_t{8} << 20;

bool SameTime(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

// A file of this system. `name` is for messages.
class LocalSourceFile final : public SourceFile {
 public:
  LocalSourceFile(UniqueFd fd, const struct stat& info, std::string name)
      : SourceFile(static_cast<uint64_t>(info.st_size), augur::AttributesOf(info)),
        fd_(std::move(fd)),
        info_(info),
        name_(std::move(name)) {}

  Result<size_t> ReadAt(std::span<std::byte> out, uint64_t offset) const override {
    return ReadUpTo(fd_.get(), name_, out, offset);
  }

  Status CheckUnchanged() const override {
    struct stat after = {};
    if (::fstat(fd_.get(), &after) != 0) return ErrnoStatus(errno, name_);
    if (after.st_size == info_.st_size && SameTime(after.st_mtim, info_.st_mtim) &&
        SameTime(after.st_ctim, info_.st_ctim)) {
      return Status::Ok();
    }
    return {Code::kChanged, name_ + ": changed while it was read"};
  }

 private:
  const UniqueFd fd_;
  const struct stat info_;
  const std::string name_;
};

}  // namespace

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

Status SourceFolder::LeaveOut(const std::string& store) {
  struct stat info = {};
  if (::stat(store.c_str(), &info) != 0) return ErrnoStatus(errno, Printable(store));
  if (info.st_dev == info_.st_dev && info.st_ino == info_.st_ino) {
    return {Code::kInvalid, Printable(path_) + ": is the store itself"};
  }
  store_device_ = info.st_dev;
  store_inode_ = info.st_ino;
  return Status::Ok();
}

Attributes SourceFolder::attributes() const { return AttributesOf(info_); }

std::unique_ptr<FolderLister> SourceFolder::MakeLister(const PathFilter& filter) const {
  return std::make_unique<Lister>(*this, filter, store_device_, store_inode_);
}

Result<std::unique_ptr<SourceFile>> SourceFolder::OpenFile(const Found& found) const {
  const std::string& path = found.path;
  // O_NONBLOCK: a fifo that has taken the file's place must not hang us. O_NOATIME saves a write of the inode for each
  // file, and is the owner's alone.
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  UniqueFd fd(OpenAt(path, noatime_ ? flags | O_NOATIME : flags));
  if (!fd.valid() && errno == EPERM && noatime_) {
    fd.Reset(OpenAt(path, flags));
    if (fd.valid()) noatime_ = false;  // another user's file: the others are likely to be, too
  }
  if (!fd.valid() && errno == ELOOP) return Status(Code::kChanged, Describe(path) + ": became a symbolic link");
  struct stat info = {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, Describe(path));
  if (!S_ISREG(info.st_mode)) return Status(Code::kChanged, Describe(path) + ": is not a regular file any more");
  if (info.st_size > kSequentialBytes) ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::unique_ptr<SourceFile>(std::make_unique<LocalSourceFile>(std::move(fd), info, Describe(path)));
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
