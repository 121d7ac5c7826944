// SPDX-License-Identifier: Apache-2.0
#include "base/trusted_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <string_view>
#include <utility>

#include "base/path_parts.h"
#include "base/units.h"

namespace augur {
namespace {

constexpr int kLinksMax = 40;  // as the kernel's own walk
constexpr mode_t kFolderMode = 0700;
constexpr mode_t kLogMode = 0644;

bool IsTrusted(const struct stat& info) { return ::geteuid() != 0 || info.st_uid == 0; }

Status NotTrusted(const std::string& path, const std::string& what, uid_t uid) {
  return {Code::kPermission, Printable(path) + ": " + what + " belongs to user " + std::to_string(uid) +
                                 ", and root follows no other user's: name the place itself"};
}

// One walk. One thread.
class TrustedWalk {
 public:
  TrustedWalk(const std::string& path, MissingFolders missing) : path_(path), missing_(missing) {}

  Result<UniqueFd> Run() {
    AUGUR_TRY(GoTo(path_.starts_with('/') ? "/" : "."));
    PushParts(path_, &rest_);
    while (!rest_.empty()) {
      const std::string name = std::move(rest_.front());
      rest_.pop_front();
      AUGUR_TRY(Enter(name));
    }
    return std::move(at_);
  }

 private:
  Status Failure(int error) const { return ErrnoStatus(error, Printable(path_)); }

  Status GoTo(const char* start) {
    at_.Reset(::open(start, O_PATH | O_DIRECTORY | O_CLOEXEC));
    return at_.valid() ? Status::Ok() : Failure(errno);
  }

  Status Enter(const std::string& name) {
    UniqueFd next = Find(name);
    if (!next.valid() && errno == ENOENT && missing_ == MissingFolders::kMake) {
      if (::mkdirat(at_.get(), name.c_str(), kFolderMode) != 0 && errno != EEXIST) return Failure(errno);
      next = Find(name);
    }
    if (!next.valid() && errno == ENOTDIR) return Follow(name);
    if (!next.valid()) return Failure(errno);
    at_ = std::move(next);
    return Status::Ok();
  }

  // The folder of this name; an invalid descriptor, and errno, when it is none. The kernel mounts what an automounter
  // has at a name when it is opened as a folder. That is right on the way, and wrong at the end: it may be our own
  // mount that the automounter waits for.
  UniqueFd Find(const std::string& name) const {
    const int as_folder = rest_.empty() ? 0 : O_DIRECTORY;
    UniqueFd found(::openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC | as_folder));
    struct stat info {};
    if (!found.valid() || as_folder != 0) return found;
    const bool is_folder = ::fstat(found.get(), &info) == 0 && S_ISDIR(info.st_mode);
    if (!is_folder) found.Reset();
    if (!is_folder) errno = ENOTDIR;
    return found;
  }

  // What is no folder: a link, or an end.
  Status Follow(const std::string& name) {
    const UniqueFd link(::openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!link.valid() || ::fstat(link.get(), &info) != 0) return Failure(errno);
    if (!S_ISLNK(info.st_mode)) return {Code::kInvalid, Printable(path_) + ": not a folder"};
    if (!IsTrusted(info)) return NotTrusted(path_, "the symbolic link '" + Printable(name) + "' in it", info.st_uid);
    if (++links_ > kLinksMax) return Failure(ELOOP);
    std::array<char, PATH_MAX> target{};
    const ssize_t bytes = ::readlinkat(link.get(), "", target.data(), target.size());
    if (bytes < 0) return Failure(errno);
    const std::string_view text(target.data(), static_cast<size_t>(bytes));
    if (text.starts_with('/')) AUGUR_TRY(GoTo("/"));
    PushParts(text, &rest_);
    return Status::Ok();
  }

  const std::string& path_;
  const MissingFolders missing_;
  UniqueFd at_;
  // Components still to be entered: those of the path, and of at most kLinksMax links of PATH_MAX bytes each.
  std::deque<std::string> rest_;
  int links_ = 0;
};

}  // namespace

Result<UniqueFd> OpenTrustedFolder(const std::string& path, MissingFolders missing) {
  return TrustedWalk(path, missing).Run();
}

Result<UniqueFd> OpenTrustedLog(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  Result<UniqueFd> folder = OpenTrustedFolder(parent, MissingFolders::kFail);
  if (!folder.ok()) return Status(folder.status().code(), "log " + Printable(path) + ": " + folder.status().text());
  struct stat place {};
  struct stat link {};
  if (::fstat(folder->get(), &place) != 0) return ErrnoStatus(errno, Printable(path));
  const bool is_link = ::fstatat(folder->get(), name.c_str(), &link, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(link.st_mode);
  // Root's link in root's folder, such as /dev/stdout, stays what it is while it is followed.
  if (is_link && !(IsTrusted(link) && IsTrusted(place))) return NotTrusted(path, "the symbolic link", link.st_uid);
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  UniqueFd fd(::openat(folder->get(), name.c_str(), kFlags | (is_link ? 0 : O_NOFOLLOW), kLogMode));
  if (!fd.valid()) return ErrnoStatus(errno, Printable(path));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, Printable(path));
  if (!S_ISREG(info.st_mode)) return fd;  // a terminal is its user's
  if (!IsTrusted(info)) return NotTrusted(path, "the file", info.st_uid);
  if (::geteuid() == 0 && !is_link && info.st_nlink > 1) {
    return Status(Code::kPermission, Printable(path) + ": the file has another name, too: name a new one");
  }
  return fd;
}

}  // namespace augur
