// SPDX-License-Identifier: Apache-2.0
#include "pack/zip_names.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace augur {
namespace {

// APPNOTE.TXT 4.3.12 (an entry of the directory), 4.4.4 (flags), 4.5.3 (numbers of 64 bits in the extra field).
constexpr size_t kEntryBytes = 46;
constexpr uint64_t kUtf8Flag = 1 << 11;
constexpr uint64_t kIn64 = 0xffffffff;
constexpr uint64_t k64Id = 1;
constexpr size_t kBufferBytes = size_t{1} << 20;  // an entry is 46 + 3 * 65,535 bytes at most

uint64_t Number(std::span<const std::byte> bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i > 0; --i) value = value << 8 | std::to_integer<uint64_t>(bytes[at + i - 1]);
  return value;
}

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

// Where the member of an entry begins.
uint64_t OffsetOf(std::span<const std::byte> entry, std::span<const std::byte> extra) {
  const uint64_t offset = Number(entry, 42, 4);
  if (offset != kIn64) return offset;
  while (extra.size() >= 4) {
    const uint64_t id = Number(extra, 0, 2);
    const std::span<const std::byte> field = extra.subspan(4, std::min<size_t>(Number(extra, 2, 2), extra.size() - 4));
    // It has those numbers only that have no room in the entry, in this order: two sizes, the offset.
    const size_t at = (Number(entry, 24, 4) == kIn64 ? 8 : 0) + (Number(entry, 20, 4) == kIn64 ? 8 : 0);
    if (id == k64Id) return field.size() >= at + 8 ? Number(field, at, 8) : offset;
    extra = extra.subspan(4 + field.size());
  }
  return offset;
}

std::string Plain(std::string name) {
  std::replace(name.begin(), name.end(), '\\', '/');
  if (name.ends_with('/')) name.pop_back();
  return name;
}

}  // namespace

Result<std::vector<ZipName>> ReadZipNames(int fd, const ZipEnd& end, const std::string& name) {
  const Status damaged(Code::kCorrupt,
                       Printable(name) + ": the zip's directory is damaged: make or fetch the archive anew");
  DirectoryBytes bytes(fd, end.directory_offset, end.directory_offset + end.directory_bytes);
  std::vector<std::pair<uint64_t, ZipName>> found;
  for (;;) {
    AUGUR_TRY_ASSIGN(head, bytes.Peek(kEntryBytes));
    if (head.empty()) break;
    if (head.size() < kEntryBytes || std::memcmp(head.data(), "PK\1\2", 4) != 0) return damaged;
    const size_t name_bytes = Number(head, 28, 2);
    const size_t extra_bytes = Number(head, 30, 2);
    const size_t whole_bytes = kEntryBytes + name_bytes + extra_bytes + Number(head, 32, 2);
    AUGUR_TRY_ASSIGN(whole, bytes.Peek(whole_bytes));
    if (whole.size() < whole_bytes) return damaged;
    const std::span<const std::byte> text = whole.subspan(kEntryBytes, name_bytes);
    found.emplace_back(OffsetOf(whole, whole.subspan(kEntryBytes + name_bytes, extra_bytes)),
                       ZipName{.bytes = {reinterpret_cast<const char*>(text.data()), text.size()},
                               .utf8 = (Number(whole, 8, 2) & kUtf8Flag) != 0});
    bytes.Take(whole_bytes);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ZipName> names;
  names.reserve(found.size());
  for (auto& [offset, zip_name] : found) names.push_back(std::move(zip_name));
  return names;
}

bool MayBeSameName(const std::string& header, const std::string& directory) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::all_of(directory.begin(), directory.end(), is_ascii)) return true;
  return Plain(header) == Plain(directory);
}

}  // namespace augur
