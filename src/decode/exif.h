// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace augur {

// What FORMAT.md keeps of an EXIF block.
struct ExifSummary {
  uint32_t bytes = 0;       // from the TIFF header on; 0: there is none
  uint8_t orientation = 0;  // 1 to 8; 0: the tag is not there, or nonsense
};

// `block` from its TIFF header on: without the "Exif" and two zeros in front of it, which some writers put into a PNG,
// or twice into a JPEG.
std::span<const std::byte> TiffOf(std::span<const std::byte> block);

// Reads the EXIF block `tiff`, which begins with its TIFF header. A block that does not begin with one is no EXIF
// block; one that is broken further on has a length and no orientation. The orientation is the one by which any reader
// turns the image: of every type that holds a number, and of the first two bytes whatever the type is (VIEWS.md). Looks
// at the first image directory only, in time linear in it. Never fails.
ExifSummary ReadExif(std::span<const std::byte> tiff);

}  // namespace augur
