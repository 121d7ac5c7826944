// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/image.h"

namespace augur {

enum class NpyLayout { kHwc, kChw };
enum class NpyType { kU8, kF32 };

// What the array of an image looks like. f32 is what torchvision's ToTensor and Normalize(mean, std) give, bit for bit:
// ((pixel / 255) - mean) / std, every step rounded to float. mean 0 and std 1 are ToTensor alone.
struct NpyFormat {
  NpyLayout layout = NpyLayout::kHwc;
  NpyType type = NpyType::kU8;
  std::array<float, 3> mean = {0, 0, 0};
  std::array<float, 3> std = {1, 1, 1};
  bool operator==(const NpyFormat&) const = default;
};

// NPY version 1.0: the header that numpy.save writes for these shapes has 128 bytes, always. Source: NumPy's format.py.
inline constexpr uint64_t kNpyHeaderBytes = 128;

// Bytes of the whole file. `channels` is 1 or 3; a grey image keeps its axis of length 1.
uint64_t NpyBytes(uint32_t width, uint32_t height, uint32_t channels, NpyType type);

// Whether the array is the pixels as an Image has them, at the end of the file.
bool KeepsPixels(uint32_t channels, const NpyFormat& format);

// Writes the whole file; numbers are little-endian. A grey image takes the first mean and std.
// REQUIRES: `out` has NpyBytes() bytes for the sizes of `image` (any alignment); no std is 0. Where KeepsPixels(), the
// pixels may lie in `out`, at its end; else nowhere in it.
void WriteNpy(const Image& image, const NpyFormat& format, std::span<std::byte> out);

}  // namespace augur
