// SPDX-License-Identifier: Apache-2.0
#include "pack/zip_directory.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <span>
#include <utility>

#include "base/units.h"
#include "pack/little_endian.h"

namespace augur {
namespace {

// APPNOTE.TXT 4.3.12 (an entry of the directory), 4.4.4 (flags), 4.4.6 (time), 4.5.3 (numbers of 64 bits in the extra
// field); the extended time is of Info-ZIP (extrafld.txt).
constexpr size_t kEntryBytes = 46;
constexpr uint64_t kUtf8Flag = 1 << 11;
constexpr uint64_t kIn64 = 0xffffffff;
constexpr uint64_t k64Id = 1;
constexpr uint64_t kTimeId = 0x5455;
constexpr size_t kBufferBytes = size_t{1} << 20;  // an entry is 46 + 3 * 65,535 bytes at most

// Hands out the bytes of the directory.
class DirectoryBytes {
 public:
  DirectoryBytes(int fd, uint64_t begin, uint64_t end) : fd_(fd), at_(begin), end_(end), buffer_(kBufferBytes) {}

  // The next `bytes`, or fewer at the end.
  Result<std::span<const std::byte>> Peek(size_t bytes) {
    while (filled_ - used_ < bytes && at_ < end_) {
      std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(used_),
                buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
      filled_ -= std::exchange(used_, 0);
      const size_t room = std::min<uint64_t>(buffer_.size() - filled_, end_ - at_);
      const ssize_t n = ::pread(fd_, buffer_.data() + filled_, room, static_cast<off_t>(at_));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoStatus(errno, "reading the directory of a zip");
      if (n == 0) break;
      at_ += static_cast<uint64_t>(n);
      filled_ += static_cast<size_t>(n);
    }
    return std::span<const std::byte>(buffer_).subspan(used_, std::min(bytes, filled_ - used_));
  }
  void Take(size_t bytes) { used_ += bytes; }

 private:
  const int fd_;
  uint64_t at_;
  const uint64_t end_;
  std::vector<std::byte> buffer_;
  size_t used_ = 0;
  size_t filled_ = 0;
};

// Seconds since 1970 of a time of MS-DOS, which has no zone: that of this machine, as for other programs.
int64_t DosTime(uint64_t time, uint64_t date) {
  std::tm parts = {};
  parts.tm_year = static_cast<int>(date >> 9) + 80;
  parts.tm_mon = static_cast<int>(date >> 5 & 15) - 1;
  parts.tm_mday = static_cast<int>(date & 31);
  parts.tm_hour = static_cast<int>(time >> 11);
  parts.tm_min = static_cast<int>(time >> 5 & 63);
  parts.tm_sec = static_cast<int>(time & 31) * 2;
  parts.tm_isdst = -1;
  return std::mktime(&parts);
}

// Takes what the entry has no room for from its extra fields.
void ReadExtra(std::span<const std::byte> extra, ZipMember* member) {
  while (extra.size() >= 4) {
    const uint64_t id = NumberAt(extra, 0, 2);
    const std::span<const std::byte> field =
        extra.subspan(4, std::min<size_t>(NumberAt(extra, 2, 2), extra.size() - 4));
    extra = extra.subspan(4 + field.size());
    if (id == kTimeId && field.size() >= 5 && (NumberAt(field, 0, 1) & 1) != 0) {
      member->mtime_sec = static_cast<int32_t>(NumberAt(field, 1, 4));
    }
    if (id != k64Id) continue;
    size_t at = 0;  // it has those numbers only that have no room in the entry
    for (uint64_t* const number : {&member->bytes, &member->packed_bytes, &member->offset}) {
      if (*number != kIn64 || field.size() < at + 8) continue;
      *number = NumberAt(field, at, 8);
      at += 8;
    }
  }
}

}  // namespace

Result<std::vector<ZipMember>> ReadZipDirectory(int fd, const ZipEnd& end, const std::string& name) {
  const Status damaged(Code::kCorrupt,
                       Printable(name) + ": the zip's directory is damaged: make or fetch the archive anew");
  DirectoryBytes bytes(fd, end.directory_offset, end.directory_offset + end.directory_bytes);
  std::vector<ZipMember> members;
  for (;;) {
    AUGUR_TRY_ASSIGN(head, bytes.Peek(kEntryBytes));
    if (head.empty()) break;
    if (head.size() < kEntryBytes || std::memcmp(head.data(), "PK\1\2", 4) != 0) return damaged;
    const size_t name_bytes = NumberAt(head, 28, 2);
    const size_t extra_bytes = NumberAt(head, 30, 2);
    const size_t whole_bytes = kEntryBytes + name_bytes + extra_bytes + NumberAt(head, 32, 2);
    AUGUR_TRY_ASSIGN(whole, bytes.Peek(whole_bytes));
    if (whole.size() < whole_bytes) return damaged;
    const std::span<const std::byte> text = whole.subspan(kEntryBytes, name_bytes);
    ZipMember member = {.name = {.bytes = {reinterpret_cast<const char*>(text.data()), text.size()},
                                 .utf8 = (NumberAt(whole, 8, 2) & kUtf8Flag) != 0},
                        .offset = NumberAt(whole, 42, 4),
                        .packed_bytes = NumberAt(whole, 20, 4),
                        .bytes = NumberAt(whole, 24, 4),
                        .crc = static_cast<uint32_t>(NumberAt(whole, 16, 4)),
                        .method = static_cast<uint16_t>(NumberAt(whole, 10, 2)),
                        .flags = static_cast<uint16_t>(NumberAt(whole, 8, 2)),
                        .system = static_cast<uint8_t>(NumberAt(whole, 5, 1)),
                        .attributes = static_cast<uint32_t>(NumberAt(whole, 38, 4)),
                        .mtime_sec = DosTime(NumberAt(whole, 12, 2), NumberAt(whole, 14, 2))};
    ReadExtra(whole.subspan(kEntryBytes + name_bytes, extra_bytes), &member);
    members.push_back(std::move(member));
    bytes.Take(whole_bytes);
  }
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return members;
}

}  // namespace augur
