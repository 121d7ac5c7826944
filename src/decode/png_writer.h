// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/image.h"

namespace augur {

// A PNG that costs its reader as little as a PNG can: deflate blocks that are stored, not compressed, and rows without
// a filter. Pixels of 8 bits, grey (1 channel) or RGB (3). Source: RFC 1950, RFC 1951 and the PNG specification (third
// edition, whose eXIf chunk holds the block of a JPEG's APP1 from its TIFF header on).

// The compressed data are one chunk, whose length has 31 bits. The largest image of 3 channels that fits has 26,000
// pixels on each side.
inline constexpr uint64_t kPngDataBytesMax = 0x7FFFFFFF;

// Whether an image of these sizes can be written: none is 0, the data fit one chunk.
bool FitsPng(uint32_t width, uint32_t height, uint32_t channels);

// Bytes of the whole file. `exif_bytes` 0: no eXIf chunk. REQUIRES: FitsPng().
uint64_t PngBytes(uint32_t width, uint32_t height, uint32_t channels, uint32_t exif_bytes);

// Writes the whole file. REQUIRES: FitsPng() of `image`; `out` has PngBytes() bytes for these sizes and `exif`. The
// pixels may lie in `out`, at its end.
void WritePng(const Image& image, std::span<const std::byte> exif, std::span<std::byte> out);

}  // namespace augur
