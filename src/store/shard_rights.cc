// SPDX-License-Identifier: Apache-2.0
#include "store/shard_rights.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "augur/foreign_folders.h"
#include "base/mount_table.h"
#include "base/regular_file.h"
#include "base/units.h"
#include "store/manifest.h"
#include "store/path_walk.h"

namespace augur {
namespace {

namespace fs = std::filesystem;

std::vector<std::string>& NamedFolders() {
  static std::vector<std::string> folders;
  return folders;
}

// Whose the index is: see Make. A user other than root is taken at his word.
Result<uid_t> OwnerOf(int folder_fd, int index_fd, const std::string& index_name, bool* is_in_mount) {
  constexpr int kFlags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
  struct statx index {};
  struct statx link {};
  struct statx folder {};
  if (::statx(index_fd, "", kFlags, STATX_BASIC_STATS, &index) != 0 ||
      ::statx(folder_fd, "", kFlags, STATX_BASIC_STATS, &folder) != 0) {
    return ErrnoStatus(errno, index_name);
  }
  *is_in_mount = IsAugurfsDevice(index.stx_dev_major, index.stx_dev_minor);
  if (::statx(folder_fd, index_name.c_str(), kFlags, STATX_BASIC_STATS, &link) != 0) link = index;  // removed just now
  for (const struct statx* info : {&index, &link, &folder}) {
    if (info->stx_uid != 0) return info->stx_uid;
  }
  return uid_t{0};
}

std::string WithoutSlash(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

Result<std::string> Canonical(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return ErrnoStatus(error.value(), Printable(path));
  return real.string();
}

bool HasDotDot(std::string_view path) { return ("/" + std::string(path) + "/").find("/../") != std::string::npos; }

// Whoever reads a file of the mount is told EIO, whatever is the matter with its shard.
Status AsDefect(const Status& status, const ShardInfo& info, const std::string& shown) {
  switch (status.code()) {
    case Code::kNotFound: return {Code::kCorrupt, shown + ": the shard is missing: " + ShardCure(info)};
    case Code::kInvalid:
    case Code::kUnsupported:
    case Code::kBusy:
    case Code::kPermission: return {Code::kCorrupt, status.text()};
    default: return status;
  }
}

Result<UniqueFd> OpenByWalk(int folder_fd, const ShardInfo& info, const WalkRules& rules, const std::string& shown) {
  AUGUR_TRY_ASSIGN(found, WalkTo(folder_fd, info.locator, rules, shown));
  return OpenFound(found.fd.get(), found.folder.get(), found.name, O_RDONLY, shown);
}

}  // namespace

void SetForeignFolders(std::vector<std::string> folders) { NamedFolders() = std::move(folders); }
const std::vector<std::string>& ForeignFolders() { return NamedFolders(); }

std::string ShardCure(const ShardInfo& info) {
  return info.foreign ? "put the file back as it was, or adopt it again" : std::string(kCopyBackCure);
}

Result<ShardRights> ShardRights::Make(int folder_fd, const std::string& folder, int index_fd,
                                      const std::string& index_name, const std::vector<std::string>& foreign) {
  bool is_in_mount = false;
  AUGUR_TRY_ASSIGN(uid, OwnerOf(folder_fd, index_fd, index_name, &is_in_mount));
  ShardRights rights(folder_fd, uid);
  rights.is_in_mount_ = is_in_mount;
  if (foreign.empty()) return rights;
  AUGUR_TRY_ASSIGN(real_folder, Canonical(folder));
  rights.folder_path_ = std::move(real_folder);
  for (const std::string& path : foreign) {
    AUGUR_TRY_ASSIGN(real, Canonical(path));
    Named named{.paths = {WithoutSlash(path), WithoutSlash(real)},
                .fd = UniqueFd(::open(real.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
    if (!named.fd.valid()) return ErrnoStatus(errno, Printable(path));
    rights.foreign_.push_back(std::move(named));
  }
  return rights;
}

Result<UniqueFd> ShardRights::Open(const ShardInfo& info) const {
  const std::string shown = Printable(info.path);
  bool leaves_folder = info.absolute || HasDotDot(info.locator);
  if (!leaves_folder) {
    Result<FoundFile> found = FindBeneath(folder_fd_, info.locator, shown, &leaves_folder);
    if (found.ok()) {
      // A name in the store's folder for another user's file: its owner did not put it there.
      leaves_folder = found->info.stx_nlink > 1 && found->info.stx_uid != uid_;
      if (!leaves_folder) {
        const int parent = found->folder.valid() ? found->folder.get() : folder_fd_;
        return OpenFound(found->fd.get(), parent, found->name, O_RDONLY, shown);
      }
    } else if (!leaves_folder) {
      return AsDefect(found.status(), info, shown);
    }
  }
  Result<UniqueFd> opened = OpenOutside(info, shown);
  if (!opened.ok()) return AsDefect(opened.status(), info, shown);
  return opened;
}

Result<UniqueFd> ShardRights::OpenOutside(const ShardInfo& info, const std::string& shown) const {
  if (!foreign_.empty()) return OpenNamed(info, shown);
  if (is_in_mount_) {
    return Status(Code::kPermission, shown +
                                         ": lies outside the store's folder, and the store lies in an AugurFS mount, "
                                         "which does not tell whose it is: name the folder of the shards with -o "
                                         "foreign=DIR");
  }
  // What root wrote may be anywhere; so may what is read with its owner's own rights.
  if (uid_ == 0 || uid_ == ::geteuid()) return OpenByWalk(folder_fd_, info, {.leaves_folder = true}, shown);
  Result<UniqueFd> opened = OpenAsOwner(info, shown);
  if (opened.ok() || opened.status().code() != Code::kPermission) return opened;
  return Status(Code::kPermission, opened.status().text() + ": lies outside the store's folder, and user " +
                                       std::to_string(uid_) +
                                       ", who owns the index, may not read it: let that user read it, or mount with "
                                       "-o foreign=DIR, the folder of the shards");
}

Result<UniqueFd> ShardRights::OpenNamed(const ShardInfo& info, const std::string& shown) const {
  const fs::path whole = info.absolute ? fs::path(info.locator) : fs::path(folder_path_) / info.locator;
  const std::string path = whole.lexically_normal().string();
  for (const Named& named : foreign_) {
    for (const std::string& prefix : named.paths) {
      if (!path.starts_with(prefix + "/")) continue;
      AUGUR_TRY_ASSIGN(found, FindBeneath(named.fd.get(), path.substr(prefix.size() + 1), shown, nullptr));
      const int parent = found.folder.valid() ? found.folder.get() : named.fd.get();
      return OpenFound(found.fd.get(), parent, found.name, O_RDONLY, shown);
    }
  }
  return Status(Code::kPermission, shown +
                                       ": lies outside the store's folder and outside the folders named with -o "
                                       "foreign=DIR: name its folder, too");
}

// Where the system does not let this process take the owner's rights (no root, or a container without CAP_SETUID), the
// modes tell what he may read.
Result<UniqueFd> ShardRights::OpenAsOwner(const ShardInfo& info, const std::string& shown) const {
  const FileUser owner = OwnerUser();
  std::optional<Result<UniqueFd>> opened;
  const auto open = [&] { opened = OpenByWalk(folder_fd_, info, {.leaves_folder = true}, shown); };
  if (!RunAs(owner, open)) opened = OpenByWalk(folder_fd_, info, {.leaves_folder = true, .reader = &owner}, shown);
  return *std::move(opened);
}

FileUser ShardRights::OwnerUser() const {
  const MutexLock lock(owner_->mu);
  if (!owner_->known) owner_->user = FileUserOf(uid_);
  owner_->known = true;
  return owner_->user;
}

}  // namespace augur
