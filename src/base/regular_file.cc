// SPDX-License-Identifier: Apache-2.0
#include "base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace augur {
namespace {

// A lease that its holder does not give back makes an open wait for 45 s; with O_NONBLOCK it fails at once.
constexpr int kFlags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

const char* TypeInWords(unsigned mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR: return "a folder";
    case S_IFLNK: return "a symbolic link";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    case S_IFCHR:
    case S_IFBLK: return "a device";
    default: return "of an unknown type";
  }
}

// Takes O_NONBLOCK off again: with it, io_uring gives up reads where a file system cannot tell that it would wait.
Result<UniqueFd> MadeToWait(UniqueFd fd, int flags, const std::string& path) {
  if (::fcntl(fd.get(), F_SETFL, flags & ~O_ACCMODE) != 0) return ErrnoStatus(errno, path);
  return fd;
}

}  // namespace

Status CheckRegular(unsigned mode, const std::string& path) {
  if (S_ISREG(mode)) return Status::Ok();
  return {Code::kInvalid, path + ": is " + TypeInWords(mode) + ", not a regular file"};
}

Result<UniqueFd> OpenFound(int found_fd, int folder_fd, const std::string& name, int flags, const std::string& path) {
  const std::string link = "/proc/self/fd/" + std::to_string(found_fd);
  UniqueFd fd(::open(link.c_str(), flags | kFlags));
  if (fd.valid()) return MadeToWait(std::move(fd), flags, path);
  if (errno != ENOENT && errno != ENOTDIR) return ErrnoStatus(errno, path);
  // There is no /proc here: by the name once more, and what is opened must be what was found.
  fd.Reset(::openat(folder_fd, name.c_str(), flags | kFlags | O_NOFOLLOW));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  struct stat found {};
  struct stat opened {};
  if (::fstat(found_fd, &found) != 0 || ::fstat(fd.get(), &opened) != 0) return ErrnoStatus(errno, path);
  if (found.st_dev != opened.st_dev || found.st_ino != opened.st_ino) {
    return Status(Code::kChanged, path + ": was replaced while it was opened");
  }
  return MadeToWait(std::move(fd), flags, path);
}

Result<UniqueFd> OpenRegularAt(int folder_fd, const std::string& name, int flags, Links links,
                               const std::string& path) {
  const int follow = links == Links::kRefuse ? O_NOFOLLOW : 0;
  const UniqueFd found(::openat(folder_fd, name.c_str(), O_PATH | O_CLOEXEC | follow));
  if (!found.valid()) return ErrnoStatus(errno, path);
  struct stat info {};
  if (::fstat(found.get(), &info) != 0) return ErrnoStatus(errno, path);
  AUGUR_TRY(CheckRegular(info.st_mode, path));
  return OpenFound(found.get(), folder_fd, name, flags, path);
}

}  // namespace augur
