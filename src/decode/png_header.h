// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "augur/entry.h"

namespace augur {

// On disk, as IHDR has them.
enum class PngColor : uint8_t { kGrey = 0, kRgb = 2, kPalette = 3, kGreyAlpha = 4, kRgbAlpha = 6 };

// What IHDR says, with values that have a meaning.
struct PngHeader {
  uint32_t width = 0;  // pixels, 1 to 2^31 - 1
  uint32_t height = 0;
  PngColor color = PngColor::kGrey;
  uint8_t bit_depth = 0;  // of a sample
  bool interlaced = false;

  // The body of an IHDR chunk. None: it is too short, or a value has no meaning. As Pillow: more bytes than 13 and the
  // compression method are passed over, and every interlace method but 0 is Adam7.
  static std::optional<PngHeader> Read(std::span<const std::byte> body);

  uint32_t samples() const;  // of a pixel, in the file
  uint32_t pixel_bits() const { return samples() * bit_depth; }
  // Of a row of `pixels` pixels in the file, its filter byte left out.
  uint64_t row_bytes(uint32_t pixels) const { return (uint64_t{pixels} * pixel_bits() + 7) / 8; }
};

// Whether `head` begins with the PNG signature.
bool LooksLikePng(std::span<const std::byte> head);

// Reads the IHDR chunk, of several in front of the pixels the last, and checks its checksum. Looks for an eXIf chunk,
// which may stand before or after the pixels. One after the end of `head` is not found. kind is kNone when there is no
// sound IHDR. `exif_block`, if given, is set to the EXIF block from its TIFF header on, within `head`, when there is
// one.
ImageInfo ProbePng(std::span<const std::byte> head, std::span<const std::byte>* exif_block = nullptr);

}  // namespace augur
