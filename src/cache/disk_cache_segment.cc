// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_segment.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/read_at.h"

namespace augur {
namespace {

// What is read of a log at a time: 1,024 entries, of a segment full of files of 250 KiB. Ends at a piece that is empty.
constexpr uint64_t kPieceSlots = 1024;
constexpr int64_t kStampNs = int64_t{600} * 1'000'000'000;

// The slots from `first` on, up to the first empty piece.
Result<std::vector<DiskCacheLogSlot>> ReadSlots(int fd, const std::string& path, uint64_t first, uint64_t end) {
  std::vector<DiskCacheLogSlot> slots;
  while (first + slots.size() < end) {
    const size_t begin = slots.size();
    // Up to a multiple of the piece, so that the pages are read once.
    const uint64_t at = first + begin;
    const uint64_t count = std::min(kPieceSlots - at % kPieceSlots, end - at);
    slots.resize(begin + count);
    const std::span<std::byte> piece = std::as_writable_bytes(std::span(slots).subspan(begin));
    AUGUR_TRY_ASSIGN(bytes, ReadUpTo(fd, path, piece, kDiskCacheHeaderBytes + at * sizeof(DiskCacheLogSlot)));
    const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
    const bool empty = std::all_of(piece.begin(), piece.begin() + static_cast<ptrdiff_t>(bytes), is_zero);
    // A file that was cut in the middle of an entry: what is left of it does not have its sum.
    slots.resize(begin + (bytes + sizeof(DiskCacheLogSlot) - 1) / sizeof(DiskCacheLogSlot));
    if (empty || bytes < piece.size()) break;
  }
  return slots;
}

}  // namespace

Result<std::shared_ptr<DiskCacheSegment>> DiskCacheSegment::Open(const DiskCacheFolder& folder, const std::string& name,
                                                                 bool direct) {
  auto segment = std::make_shared<DiskCacheSegment>();
  auto file = std::make_shared<DiskCacheFile>();
  file->path = folder.path() + "/" + name;
  AUGUR_TRY_ASSIGN(fd, OpenDiskCacheFile(folder.fd(), folder.path(), name, O_RDONLY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, file->path);
  AUGUR_TRY_ASSIGN(header, ReadDiskCacheHeader(fd.get(), file->path));
  file->fd = std::move(fd);
  segment->name_ = name;
  segment->header_ = header;
  segment->inode_ = info.st_ino;
  segment->data_end_ = segment->data_begin();
  if (direct) TryDiskCacheDirect(file.get());
  segment->file_ = std::move(file);
  return segment;
}

Status DiskCacheSegment::ReadLog(int fd, const OnFile& on_file) {
  AUGUR_TRY_ASSIGN(slots, ReadSlots(fd, file_->path, known_slots_, log_slots()));
  // The size after the log: a segment that is adopted grows before anything is appended.
  struct stat info {};
  if (::fstat(fd, &info) != 0) return ErrnoStatus(errno, file_->path);
  const auto size = static_cast<uint64_t>(info.st_size);
  uint64_t misplaced = 0;
  const DiskCacheLogScan scan = ScanDiskCacheLog(id(), slots, [&](const DiskCacheLogFile& found, size_t) {
    const uint64_t begin = uint64_t{found.first_page} * kDiskCachePageBytes;
    if (begin < data_begin() || begin + found.key.size > size) {
      ++misplaced;
      return;
    }
    data_end_ = std::max(data_end_, begin + UpToDiskCachePage(found.key.size));
    on_file(found);
  });
  bad_ += misplaced + scan.bad - scan.bad_tail;
  bad_tail_ = scan.bad_tail;
  used_slots_ = std::max(used_slots_, known_slots_ + scan.used_end);
  known_slots_ += scan.known_end;
  return Status::Ok();
}

Status DiskCacheSegment::ReadLog(const DiskCacheFolder& folder, const OnFile& on_file) {
  AUGUR_TRY_ASSIGN(fd, OpenDiskCacheFile(folder.fd(), folder.path(), name_, O_RDONLY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, file_->path);
  if (info.st_ino != inode_) return {Code::kNotFound, file_->path + ": was replaced"};
  return ReadLog(fd.get(), on_file);
}

Status DiskCacheSegment::Kill(const DiskCacheFolder& folder, const DiskCacheKey& key, uint32_t first_page) const {
  AUGUR_TRY_ASSIGN(fd, OpenDiskCacheFile(folder.fd(), folder.path(), name_, O_RDWR));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, file_->path);
  Status missing(Code::kNotFound, file_->path + ": has no such file");
  if (info.st_ino != inode_) return missing;
  AUGUR_TRY_ASSIGN(slots, ReadSlots(fd.get(), file_->path, 0, log_slots()));
  std::optional<size_t> slot;
  ScanDiskCacheLog(id(), slots, [&](const DiskCacheLogFile& found, size_t position) {
    if (found.key == key && found.first_page == first_page) slot = position;
  });
  if (!slot) return missing;
  const DiskCacheLogSlot dead = EncodeDiskCacheDead(id(), key);
  return WriteDiskCache(fd.get(), file_->path, std::as_bytes(std::span(&dead, 1)),
                        kDiskCacheHeaderBytes + *slot * sizeof(DiskCacheLogSlot));
}

void DiskCacheSegment::FlushUsage(int64_t now_ns, int64_t rest_ns) {
  const int fd = file_->fd.get();
  if (!used_.exchange(false, std::memory_order_relaxed)) {
    if (locked_ && now_ns - last_used_ns_ > rest_ns) {
      LockDiskCacheBytes(fd, F_UNLCK, kDiskCacheUserByte, 1);
      locked_ = false;
    }
    return;
  }
  last_used_ns_ = now_ns;
  if (!locked_) locked_ = LockDiskCacheBytes(fd, F_RDLCK, kDiskCacheUserByte, 1);
  if (stamped_ns_ == 0 || now_ns - stamped_ns_ > kStampNs || now_ns < stamped_ns_) {
    const timespec now = {.tv_sec = now_ns / 1'000'000'000, .tv_nsec = now_ns % 1'000'000'000};
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, now};
    (void)::futimens(fd, times);  // refused where it is read-only; then no process removes it either
    stamped_ns_ = now_ns;
  }
}

}  // namespace augur
