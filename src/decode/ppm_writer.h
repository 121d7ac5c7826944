// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/image.h"

namespace augur {

// Binary PPM (P6) for RGB, binary PGM (P5) for grey: a line of text and the pixels as they are. It has no place for
// EXIF.

// Bytes of the whole file. `channels` is 1 or 3.
uint64_t PpmBytes(uint32_t width, uint32_t height, uint32_t channels);

// Writes the whole file. REQUIRES: `out` has PpmBytes() bytes for the sizes of `image`. The pixels may lie
// in `out`, at its end.
void WritePpm(const Image& image, std::span<std::byte> out);

}  // namespace augur
