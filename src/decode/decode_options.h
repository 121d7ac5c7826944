// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace augur {

// What a decoder makes of a file, and what it refuses. The default is Image.open(file).convert('RGB') of Pillow.
struct DecodeOptions {
  // A grey image stays one channel (Pillow's convert('L')) instead of three equal ones.
  bool keep_grey = false;
  // A file that ends too early or breaks off in the middle gives what Pillow gives under
  // ImageFile.LOAD_TRUNCATED_IMAGES: what there is, the rest grey or black. Else it is an error.
  bool tolerant = false;
  // 1, 2, 4 or 8: JPEGs come out at 1/N of their size, rounded up, by a smaller inverse transform (Image.draft of
  // Pillow). Other images ignore it.
  uint32_t scale_denominator = 1;
  // Images of more pixels, as coded, are refused. The default is where Pillow's Image.open raises
  // DecompressionBombError.
  uint64_t pixels_max = 178'956'970;
  // Images that need more than this while they are decoded are refused: the pixels themselves, and what DecodeNeeds
  // counts beside them. The default is what 8-bit RGB of pixels_max takes, and half as much again.
  uint64_t memory_bytes_max = 178'956'970ULL * 9 / 2;
  // Where the pixels go when it has just their size, so that they need not be copied there; else they have memory of
  // their own. After a failure it holds nothing valid.
  std::span<uint8_t> room = {};
};

// What decoding a file gives and takes, known from its header.
struct DecodeNeeds {
  uint32_t width = 0;  // pixels of the Image, after scale_denominator
  uint32_t height = 0;
  uint32_t channels = 0;  // 1 or 3
  // All that is allocated at the same time: the Image, the coefficients of a JPEG of several scans, rows. Tables of a
  // fixed size (under 300 KiB) are not counted.
  uint64_t memory_bytes = 0;
};

}  // namespace augur
