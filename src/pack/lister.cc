// SPDX-License-Identifier: Apache-2.0
#include "pack/lister.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "store/format.h"

namespace augur {
namespace {

constexpr size_t kDirentBytes = size_t{64} << 10;
// Names that are sorted by inode together. ext4 reads inodes in groups of 512 (inode_readahead_blks), so a batch of
// some thousand leaves hardly a group that is read twice; with names of 255 bytes it is 2 MiB.
constexpr size_t kBatchNames = 8192;

std::string Join(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + "/" + std::string(name);
}

}  // namespace

Lister::Lister(const SourceFolder& source, const PathFilter& filter, dev_t store_device, ino_t store_inode)
    : source_(source),
      filter_(filter),
      store_device_(store_device),
      store_inode_(store_inode),
      dirents_(kDirentBytes) {}

Status Lister::List(const std::string& path, Listing& listing) {
  files_ = 0;
  bytes_ = 0;
  place_ = 0;
  Result<UniqueFd> fd = source_.OpenFolder(path);
  if (!fd.ok()) return listing.AddProblem("", fd.status());
  return ReadNames(fd->get(), path, listing);
}

Status Lister::ReadNames(int fd, const std::string& path, Listing& listing) {
  for (;;) {
    const ssize_t n = ::getdents64(fd, dirents_.data(), dirents_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) AUGUR_TRY(listing.AddProblem("", ErrnoStatus(errno, source_.Describe(path))));
    if (n <= 0) return AddBatch(fd, path, listing);
    for (ssize_t at = 0; at < n;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(dirents_.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (entry->d_type != DT_UNKNOWN && !Takes(path, name, entry->d_type == DT_DIR)) continue;
      batch_.push_back({.inode = entry->d_ino,
                        .place = place_++,
                        .offset = static_cast<uint32_t>(names_.size()),
                        .bytes = static_cast<uint16_t>(name.size()),
                        .type = entry->d_type});
      names_.append(name).push_back('\0');
    }
    if (batch_.size() >= kBatchNames) AUGUR_TRY(AddBatch(fd, path, listing));
  }
}

Status Lister::AddBatch(int fd, const std::string& path, Listing& listing) {
  std::sort(batch_.begin(), batch_.end(), [](const Name& a, const Name& b) { return a.inode < b.inode; });
  for (const Name& name : batch_) AUGUR_TRY(AddOne(fd, path, name, listing));
  batch_.clear();
  names_.clear();
  return {};
}

Status Lister::AddOne(int fd, const std::string& path, const Name& entry, Listing& listing) {
  const std::string_view name(names_.data() + entry.offset, entry.bytes);
  if (path.size() + 1 + name.size() > format::kPathBytesMax) {
    return listing.AddProblem(
        name, Status(Code::kInvalid, source_.Describe(Join(path, name)) + ": the path is over 4,095 bytes"));
  }
  struct stat info = {};
  if (::fstatat(fd, name.data(), &info, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
    return listing.AddProblem(name, ErrnoStatus(errno, source_.Describe(Join(path, name))));
  }
  const bool folder = S_ISDIR(info.st_mode);
  if (entry.type == DT_UNKNOWN && !Takes(path, name, folder)) return {};
  FoundItem item;
  item.place = entry.place;
  const Attributes attributes = AttributesOf(info);
  item.mode = attributes.mode;
  item.mtime_sec = attributes.mtime_sec;
  item.mtime_nsec = attributes.mtime_nsec;
  if (folder) {
    const bool store = info.st_dev == store_device_ && info.st_ino == store_inode_;
    item.kind = store ? FoundKind::kStore : FoundKind::kFolder;
    return listing.Add(item, name, "");
  }
  if (S_ISREG(info.st_mode)) {
    item.size = static_cast<uint64_t>(info.st_size);
    ++files_;
    bytes_ += item.size;
    return listing.Add(item, name, "");
  }
  if (!S_ISLNK(info.st_mode)) {
    item.kind = FoundKind::kSpecial;
    return listing.Add(item, name, "");
  }
  std::array<char, format::kPathBytesMax + 1> target;
  const ssize_t n = ::readlinkat(fd, name.data(), target.data(), target.size());
  if (n < 0) return listing.AddProblem(name, ErrnoStatus(errno, source_.Describe(Join(path, name))));
  item.kind = FoundKind::kSymlink;
  return listing.Add(item, name, {target.data(), static_cast<size_t>(n)});
}

bool Lister::Takes(const std::string& path, std::string_view name, bool folder) const {
  if (filter_.takes_everything()) return true;
  const std::string whole = Join(path, name);
  return folder ? filter_.TakesFolder(whole) : filter_.TakesFile(whole);
}

}  // namespace augur
