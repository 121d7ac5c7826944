// SPDX-License-Identifier: Apache-2.0
#include "decode/exif.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace augur {
namespace {

constexpr size_t kTiffHeaderBytes = 8;
constexpr size_t kFieldBytes = 12;  // an item of an image directory: tag, type, count, value
constexpr size_t kFieldValue = 8;   // where in a field its value is, or the place of a longer one
constexpr size_t kValueBytes = 4;
constexpr uint16_t kOrientationTag = 0x0112;
constexpr std::array<char, 6> kExifMagic = {'E', 'x', 'i', 'f', 0, 0};

// The types that hold numbers. Source: TIFF 6.0, section 2; 13 of TIFF Technical Note 1; 16 of BigTIFF.
enum Type : uint32_t {
  kByte = 1,
  kShort = 3,
  kLong = 4,
  kRational = 5,
  kSignedByte = 6,
  kSignedShort = 8,
  kSignedLong = 9,
  kSignedRational = 10,
  kFloat = 11,
  kDouble = 12,
  kDirectory = 13,
  kLong8 = 16,
};

// Numbers of a TIFF block in its own byte order. Every read is checked; past the end there is 0, which no caller takes
// for a value that counts.
class TiffReader {
 public:
  TiffReader(std::span<const std::byte> bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  bool Has(uint64_t offset, uint64_t bytes) const { return offset <= bytes_.size() && bytes_.size() - offset >= bytes; }

  uint64_t Number(uint64_t offset, unsigned width) const {
    if (!Has(offset, width)) return 0;
    uint64_t number = 0;
    for (unsigned i = 0; i < width; ++i) {
      const uint64_t at = offset + (big_endian_ ? i : width - 1 - i);
      number = (number << 8) | std::to_integer<uint64_t>(bytes_[at]);
    }
    return number;
  }

 private:
  const std::span<const std::byte> bytes_;
  const bool big_endian_;
};

// The value of a field of one of the types of TIFF 6.0 and BigTIFF that hold a number, where Pillow reads a number.
// `at` is the place of the first value. 0 for another type.
double ValueOf(const TiffReader& reader, uint32_t type, uint64_t at) {
  const auto long_at = [&](uint64_t place) { return static_cast<uint32_t>(reader.Number(place, 4)); };
  switch (type) {
    case kByte: return static_cast<double>(reader.Number(at, 1));
    case kSignedByte: return static_cast<int8_t>(reader.Number(at, 1));
    case kShort: return static_cast<double>(reader.Number(at, 2));
    case kSignedShort: return static_cast<int16_t>(reader.Number(at, 2));
    case kLong:
    case kDirectory: return long_at(at);
    case kSignedLong: return static_cast<int32_t>(long_at(at));
    case kLong8: return static_cast<double>(reader.Number(at, 8));
    // A denominator of 0 gives an infinity or no number, and neither is an orientation.
    case kRational: return static_cast<double>(long_at(at)) / long_at(at + 4);
    case kSignedRational:
      return static_cast<double>(static_cast<int32_t>(long_at(at))) / static_cast<int32_t>(long_at(at + 4));
    case kFloat: return std::bit_cast<float>(long_at(at));
    case kDouble: return std::bit_cast<double>(reader.Number(at, 8));
    default: return 0;
  }
}

unsigned WidthOf(uint32_t type) {
  switch (type) {
    case kByte:
    case kSignedByte: return 1;
    case kShort:
    case kSignedShort: return 2;
    case kLong:
    case kSignedLong:
    case kDirectory:
    case kFloat: return 4;
    case kRational:
    case kSignedRational:
    case kLong8:
    case kDouble: return 8;
    default: return 0;
  }
}

uint8_t AsOrientation(double value) {
  return value >= 1 && value <= 8 && value == std::floor(value) ? static_cast<uint8_t>(value) : uint8_t{0};
}

// The orientation that the field at `field` gives to any reader. Pillow goes by the type and the count; OpenCV and
// torchvision take the first two bytes as a SHORT, whatever the type is.
uint8_t OrientationOf(const TiffReader& reader, uint64_t field) {
  const uint64_t inside = field + kFieldValue;
  const uint32_t type = static_cast<uint32_t>(reader.Number(field + 2, 2));
  const uint64_t count = reader.Number(field + 4, 4);
  const uint64_t bytes = count * WidthOf(type);
  if (bytes > 0) {
    const uint64_t at = bytes <= kValueBytes ? inside : reader.Number(inside, 4);
    if (const uint8_t value = reader.Has(at, bytes) ? AsOrientation(ValueOf(reader, type, at)) : uint8_t{0}; value != 0)
      return value;
  }
  return AsOrientation(static_cast<double>(reader.Number(inside, 2)));
}

}  // namespace

std::span<const std::byte> TiffOf(std::span<const std::byte> block) {
  while (block.size() >= kExifMagic.size() && std::memcmp(block.data(), kExifMagic.data(), kExifMagic.size()) == 0) {
    block = block.subspan(kExifMagic.size());
  }
  return block;
}

ExifSummary ReadExif(std::span<const std::byte> tiff) {
  if (tiff.size() < kTiffHeaderBytes) return {};
  const bool little = tiff[0] == std::byte{'I'} && tiff[1] == std::byte{'I'};
  const bool big = tiff[0] == std::byte{'M'} && tiff[1] == std::byte{'M'};
  const TiffReader reader(tiff, big);
  if (!(little || big) || reader.Number(2, 2) != 42) return {};
  ExifSummary summary;
  summary.bytes = static_cast<uint32_t>(std::min<size_t>(tiff.size(), UINT32_MAX));
  const uint64_t directory = reader.Number(4, 4);
  const uint64_t fields = reader.Number(directory, 2);
  // Of several fields Pillow takes the last, OpenCV another: one that turns the image counts.
  for (uint64_t i = 0; i < fields && summary.orientation <= 1; ++i) {
    const uint64_t field = directory + 2 + i * kFieldBytes;
    if (!reader.Has(field, kFieldBytes)) break;
    if (reader.Number(field, 2) != kOrientationTag) continue;
    if (const uint8_t value = OrientationOf(reader, field); value != 0) summary.orientation = value;
  }
  return summary;
}

}  // namespace augur
