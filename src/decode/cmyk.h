// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace augur {

// Turns four samples a pixel as a JPEG of four components has them (the inverse of ink, Adobe's way, which Pillow
// assumes of all) into RGB. REQUIRES: rgb.size() / 3 == cmyk.size() / 4. Source: cmyk2rgb of Pillow's Convert.c, after
// its unpacker "CMYK;I".
void InvertedCmykToRgb(std::span<const uint8_t> cmyk, std::span<uint8_t> rgb);

}  // namespace augur
