// SPDX-License-Identifier: Apache-2.0
#include "decode/exif.h"

#include <algorithm>

namespace augur {
namespace {

constexpr size_t kTiffHeaderBytes = 8;
constexpr size_t kFieldBytes = 12;  // an item of an image directory: tag, type, count, value
constexpr uint16_t kOrientationTag = 0x0112;

// Numbers of a TIFF block in its own byte order. Every read is checked; past the end there is 0, which no caller takes
// for a value that counts.
class TiffReader {
 public:
  TiffReader(std::span<const std::byte> bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  uint32_t Number(uint64_t offset, unsigned width) const {
    if (offset > bytes_.size() || bytes_.size() - offset < width) return 0;
    uint32_t number = 0;
    for (unsigned i = 0; i < width; ++i) {
      const uint64_t at = offset + (big_endian_ ? i : width - 1 - i);
      number = (number << 8) | std::to_integer<uint32_t>(bytes_[at]);
    }
    return number;
  }

 private:
  const std::span<const std::byte> bytes_;
  const bool big_endian_;
};

// The widths of the TIFF types in which writers store the tag: BYTE, SHORT (the standard's), LONG.
unsigned WidthOf(uint32_t type) {
  switch (type) {
    case 1: return 1;
    case 3: return 2;
    case 4: return 4;
    default: return 0;
  }
}

}  // namespace

ExifSummary ReadExif(std::span<const std::byte> tiff) {
  if (tiff.size() < kTiffHeaderBytes) return {};
  const bool little = tiff[0] == std::byte{'I'} && tiff[1] == std::byte{'I'};
  const bool big = tiff[0] == std::byte{'M'} && tiff[1] == std::byte{'M'};
  const TiffReader reader(tiff, big);
  if (!(little || big) || reader.Number(2, 2) != 42) return {};
  ExifSummary summary;
  summary.bytes = static_cast<uint32_t>(std::min<size_t>(tiff.size(), UINT32_MAX));
  const uint64_t directory = reader.Number(4, 4);
  const uint32_t fields = reader.Number(directory, 2);
  for (uint32_t i = 0; i < fields; ++i) {
    const uint64_t field = directory + 2 + uint64_t{i} * kFieldBytes;
    if (field + kFieldBytes > tiff.size()) break;
    if (reader.Number(field, 2) != kOrientationTag) continue;
    const unsigned width = WidthOf(reader.Number(field + 2, 2));
    if (width == 0 || reader.Number(field + 4, 4) == 0) break;
    const uint32_t value = reader.Number(field + 8, width);
    if (value >= 1 && value <= 8) summary.orientation = static_cast<uint8_t>(value);
    break;
  }
  return summary;
}

}  // namespace augur
