// SPDX-License-Identifier: Apache-2.0
#include "base/trusted_program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace augur {
namespace {

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

// OK when none but root can change what `info` is of.
Status CheckRoots(const struct stat& info, const std::string& path) {
  if (geteuid() != 0) return Status::Ok();
  if (info.st_uid != 0) {
    return {Code::kPermission, Printable(path) + ": belongs to user " + std::to_string(info.st_uid) +
                                   ", who could have root run any program: chown it to root, or name another file"};
  }
  const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
  if ((info.st_mode & kOthersWrite) != 0 && !sticky) {
    return {Code::kPermission, Printable(path) +
                                   ": other users may write to it, and could have root run any program: chmod go-w it, "
                                   "or name another file"};
  }
  return Status::Ok();
}

}  // namespace

Result<UniqueFd> OpenTrustedProgram(const std::string& path) {
  if (!path.starts_with('/')) return Status(Code::kInvalid, Printable(path) + ": give the program's absolute path");
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  if (real == nullptr) return ErrnoStatus(errno, Printable(path));
  // From here on there are no links; one that comes meanwhile is not followed.
  UniqueFd at(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::string so_far = "/";
  std::string_view rest = std::string_view(real.get()).substr(1);
  struct stat info {};
  while (true) {
    if (!at.valid() || fstat(at.get(), &info) != 0) return ErrnoStatus(errno, Printable(so_far));
    AUGUR_TRY(CheckRoots(info, so_far));
    if (rest.empty()) break;
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string name(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (so_far.size() > 1) so_far += '/';
    so_far += name;
    UniqueFd next(openat(at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    at = std::move(next);
  }
  if (!S_ISREG(info.st_mode)) return Status(Code::kInvalid, Printable(path) + ": is no file, and so no program");
  if (faccessat(at.get(), "", X_OK, AT_EACCESS | AT_EMPTY_PATH) != 0) {
    return Status(Code::kPermission, Printable(path) + ": may not be executed: chmod +x it, or name another file");
  }
  return at;
}

}  // namespace augur
