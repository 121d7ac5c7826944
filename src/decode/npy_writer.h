// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/array_writer.h"
#include "decode/image.h"

namespace augur {

// NPY version 1.0: the header that numpy.save writes for these shapes has 128 bytes, always. Source: NumPy's format.py.
inline constexpr uint64_t kNpyHeaderBytes = 128;

// Bytes of the whole file. `channels` is 1 or 3.
uint64_t NpyBytes(uint32_t width, uint32_t height, uint32_t channels, ArrayType type);

// Writes the whole file. REQUIRES: `out` has NpyBytes() bytes for the sizes of `image`; what WriteArray requires of the
// part behind the header.
void WriteNpy(const Image& image, const ArrayFormat& format, std::span<std::byte> out);

}  // namespace augur
