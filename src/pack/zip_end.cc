// SPDX-License-Identifier: Apache-2.0
#include "pack/zip_end.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/read_at.h"
#include "base/units.h"
#include "pack/little_endian.h"

namespace augur {
namespace {

// APPNOTE.TXT 4.3.16, 4.3.15 and 4.3.14: the end record, which a comment of up to 65,535 bytes follows; the locator
// of the 64-bit end record, right before it; and that record.
constexpr size_t kEndBytes = 22;
constexpr size_t kLocatorBytes = 20;
constexpr size_t kEnd64Bytes = 56;
constexpr size_t kSearchBytes = kLocatorBytes + kEndBytes + 65535;
constexpr uint32_t kIn64 = 0xffffffff;  // the 64-bit record has it

bool Begins(std::span<const std::byte> bytes, const char* signature) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), signature, 4) == 0;
}

Status Damaged(const std::string& name) {
  return {Code::kCorrupt,
          Printable(name) + ": the zip's end record does not fit the file: make or fetch the archive anew"};
}

Status Split(const std::string& name) {
  return {Code::kUnsupported, Printable(name) + ": is one part of a split zip: join the parts with 'zip -s 0' first"};
}

// The end of a zip whose numbers are of 64 bits.
Result<ZipEnd> ReadEnd64(int fd, std::span<const std::byte> locator, const std::string& name) {
  if (NumberAt(locator, 4, 4) != 0 || NumberAt(locator, 16, 4) > 1) return Split(name);
  std::array<std::byte, kEnd64Bytes> record = {};
  AUGUR_TRY_ASSIGN(got, ReadUpTo(fd, Printable(name), record, NumberAt(locator, 8, 8)));
  if (got < record.size() || !Begins(record, "PK\6\6")) return Damaged(name);
  if (NumberAt(record, 24, 8) != NumberAt(record, 32, 8)) return Split(name);
  return ZipEnd{.directory_offset = NumberAt(record, 48, 8),
                .directory_bytes = NumberAt(record, 40, 8),
                .member_count = NumberAt(record, 32, 8),
                .counts_all = true};
}

}  // namespace

Result<ZipEnd> FindZipEnd(int fd, const std::string& name) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return ErrnoStatus(errno, Printable(name));
  const auto file_bytes = static_cast<uint64_t>(info.st_size);
  std::vector<std::byte> buffer(std::min<uint64_t>(file_bytes, kSearchBytes));
  const uint64_t base = file_bytes - buffer.size();
  AUGUR_TRY_ASSIGN(got, ReadUpTo(fd, Printable(name), buffer, base));
  const std::span<const std::byte> tail = std::span(buffer).first(got);
  for (size_t end = tail.size(); end >= kEndBytes; --end) {
    const size_t at = end - kEndBytes;
    if (!Begins(tail.subspan(at), "PK\5\6")) continue;
    if (at >= kLocatorBytes && Begins(tail.subspan(at - kLocatorBytes), "PK\6\7")) {
      return ReadEnd64(fd, tail.subspan(at - kLocatorBytes, kLocatorBytes), name);
    }
    const std::span<const std::byte> record = tail.subspan(at, kEndBytes);
    if (NumberAt(record, 4, 2) != 0 || NumberAt(record, 6, 2) != 0 ||
        NumberAt(record, 8, 2) != NumberAt(record, 10, 2)) {
      return Split(name);
    }
    const uint64_t directory_bytes = NumberAt(record, 12, 4);
    const uint64_t directory_offset = NumberAt(record, 16, 4);
    if (directory_offset == kIn64 || directory_bytes + directory_offset > base + at) return Damaged(name);
    return ZipEnd{.prefix_bytes = base + at - directory_bytes - directory_offset,
                  .directory_offset = base + at - directory_bytes,
                  .directory_bytes = directory_bytes,
                  .member_count = NumberAt(record, 10, 2)};
  }
  return Status(Code::kNotFound, Printable(name) + ": the end record of a zip is not there");
}

}  // namespace augur
