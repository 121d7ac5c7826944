// SPDX-License-Identifier: Apache-2.0
#include "store/path_walk.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <string_view>
#include <utility>

#include "base/mount_table.h"
#include "base/path_parts.h"
#include "base/regular_file.h"
#include "store/format.h"

namespace augur {
namespace {

constexpr int kFindFlags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
constexpr int kLinksMax = 40;  // as the kernel's own walk

// Attributes as the kernel has them now: asking the server of the file system could wait for us.
Status LookAt(int fd, const std::string& shown, struct statx* out) {
  constexpr int kFlags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (::statx(fd, "", kFlags, STATX_BASIC_STATS, out) != 0) return ErrnoStatus(errno, shown);
  return Status::Ok();
}

// One walk. One thread.
class Walk {
 public:
  Walk(int folder_fd, const WalkRules& rules, const std::string& shown)
      : folder_fd_(folder_fd), rules_(rules), shown_(shown) {}

  Result<FoundFile> To(const std::string& path) {
    struct statx home {};
    AUGUR_TRY(LookAt(folder_fd_, shown_, &home));
    home_ = {home.stx_dev_major, home.stx_dev_minor};
    AUGUR_TRY(path.starts_with('/') ? GoToRoot() : Enter(UniqueFd(::fcntl(folder_fd_, F_DUPFD_CLOEXEC, 0))));
    PushParts(path, &rest_);
    while (!rest_.empty()) {
      const std::string name = std::move(rest_.front());
      rest_.pop_front();
      AUGUR_TRY(MaySearch());
      AUGUR_TRY_ASSIGN(next, Find(name));
      struct statx info {};
      AUGUR_TRY(LookAt(next.get(), shown_, &info));
      if (S_ISLNK(info.stx_mode)) {
        AUGUR_TRY(Follow(next.get()));
        continue;
      }
      AUGUR_TRY(CheckDevice(info));
      if (rest_.empty()) return Arrive(std::move(next), name, info);
      at_ = std::move(next);
      at_info_ = info;
    }
    return Status(Code::kInvalid, shown_ + ": is a folder, not a regular file");
  }

  // Whether it ended at a link or "..".
  bool refused() const { return refused_; }

 private:
  Status Refuse() {
    refused_ = true;
    return ErrnoStatus(ELOOP, shown_);
  }

  Status Enter(UniqueFd folder) {
    if (!folder.valid()) return ErrnoStatus(errno, shown_);
    at_ = std::move(folder);
    AUGUR_TRY(LookAt(at_.get(), shown_, &at_info_));
    return CheckDevice(at_info_);
  }

  Status GoToRoot() { return Enter(UniqueFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC))); }

  Status MaySearch() const {
    if (rules_.reader == nullptr || rules_.reader->Has(1, at_info_.stx_mode, at_info_.stx_uid, at_info_.stx_gid)) {
      return Status::Ok();
    }
    return ErrnoStatus(EACCES, shown_);
  }

  Result<UniqueFd> Find(const std::string& name) {
    if (name == ".." && !rules_.leaves_folder) return Refuse();
    // As a folder first: the kernel mounts what an automounter has there for a folder alone.
    UniqueFd next;
    if (!rest_.empty()) next.Reset(::openat(at_.get(), name.c_str(), kFindFlags | O_DIRECTORY));
    if (!next.valid() && (rest_.empty() || errno == ENOTDIR)) {
      next.Reset(::openat(at_.get(), name.c_str(), kFindFlags));
    }
    if (!next.valid()) return ErrnoStatus(errno, shown_);
    return next;
  }

  Status Follow(int link_fd) {
    if (!rules_.leaves_folder) return Refuse();
    if (++links_ > kLinksMax) return ErrnoStatus(ELOOP, shown_);
    std::array<char, format::kPathBytesMax + 1> target{};
    const ssize_t bytes = ::readlinkat(link_fd, "", target.data(), target.size());
    if (bytes < 0) return ErrnoStatus(errno, shown_);
    const std::string_view text(target.data(), static_cast<size_t>(bytes));
    if (text.empty() || text.size() == target.size()) return ErrnoStatus(ENOENT, shown_);
    if (text.starts_with('/')) AUGUR_TRY(GoToRoot());
    PushParts(text, &rest_);
    return Status::Ok();
  }

  Status CheckDevice(const struct statx& info) {
    const std::pair<uint32_t, uint32_t> device(info.stx_dev_major, info.stx_dev_minor);
    if (device == home_ || device == checked_) return Status::Ok();
    if (IsAugurfsDevice(device.first, device.second)) {
      return {Code::kUnsupported, shown_ +
                                      ": lies in an AugurFS mount, where no store may have shards: a mount that waits "
                                      "for itself never answers: adopt the file where it really lies"};
    }
    checked_ = device;
    return Status::Ok();
  }

  Result<FoundFile> Arrive(UniqueFd file, const std::string& name, const struct statx& info) {
    AUGUR_TRY(CheckRegular(info.stx_mode, shown_));
    if (rules_.reader != nullptr && !rules_.reader->Has(4, info.stx_mode, info.stx_uid, info.stx_gid)) {
      return ErrnoStatus(EACCES, shown_);
    }
    FoundFile found{.fd = std::move(file), .folder = std::move(at_), .name = name, .info = info};
    return found;
  }

  const int folder_fd_;
  const WalkRules& rules_;
  const std::string& shown_;
  UniqueFd at_;
  struct statx at_info_ {};
  // Components still to be entered: those of a locator and of at most kLinksMax links, kPathBytesMax each.
  std::deque<std::string> rest_;
  int links_ = 0;
  bool refused_ = false;
  std::pair<uint32_t, uint32_t> home_;     // device of the folder
  std::pair<uint32_t, uint32_t> checked_;  // the last one that is no AugurFS
};

// The whole way in one call, when it stays on one file system; -1 with errno.
int OpenBeneath(int folder_fd, const std::string& path) {
  open_how how{};
  how.flags = kFindFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return static_cast<int>(::syscall(SYS_openat2, folder_fd, path.c_str(), &how, sizeof(how)));
}

}  // namespace

Result<FoundFile> WalkTo(int folder_fd, const std::string& path, const WalkRules& rules, const std::string& shown) {
  return Walk(folder_fd, rules, shown).To(path);
}

Result<FoundFile> FindBeneath(int folder_fd, const std::string& path, const std::string& shown, bool* leaves_folder) {
  FoundFile found{.fd = UniqueFd(OpenBeneath(folder_fd, path)), .folder = {}, .name = path, .info = {}};
  if (found.fd.valid()) {
    AUGUR_TRY(LookAt(found.fd.get(), shown, &found.info));
    if (!S_ISLNK(found.info.stx_mode)) {
      AUGUR_TRY(CheckRegular(found.info.stx_mode, shown));
      return found;
    }
    errno = ELOOP;  // with O_PATH and O_NOFOLLOW the kernel opens a link in the last place itself
  }
  if (errno == ENOENT || errno == ENOTDIR || errno == EACCES) return ErrnoStatus(errno, shown);
  if (errno == ELOOP) {
    if (leaves_folder != nullptr) *leaves_folder = true;
    return ErrnoStatus(ELOOP, shown);
  }
  // No openat2 here, or forbidden, or another file system on the way: step by step, which tells them apart.
  const WalkRules within;
  Walk walk(folder_fd, within, shown);
  Result<FoundFile> walked = walk.To(path);
  if (leaves_folder != nullptr) *leaves_folder = walk.refused();
  return walked;
}

}  // namespace augur
