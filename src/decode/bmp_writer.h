// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/image.h"

namespace augur {

// An uncompressed Windows bitmap with the 40-byte header: rows from bottom to top, padded to 4 bytes. RGB is 24-bit
// BGR. Grey is 8-bit indices into a palette of 256 greys, so that readers see a grey image, not a colour one. It has no
// place for EXIF. Source: BITMAPFILEHEADER and BITMAPINFOHEADER of the Windows SDK.

// Whether an image of these sizes can be written: none is 0, sides of 31 bits, a file of 32 bits.
bool FitsBmp(uint32_t width, uint32_t height, uint32_t channels);

// Bytes of the whole file. `channels` is 1 or 3. REQUIRES: FitsBmp().
uint64_t BmpBytes(uint32_t width, uint32_t height, uint32_t channels);

// Writes the whole file. REQUIRES: FitsBmp() of `image`; `out` has BmpBytes() bytes for its sizes.
void WriteBmp(const Image& image, std::span<std::byte> out);

}  // namespace augur
