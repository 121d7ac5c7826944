// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/image.h"

namespace augur {

enum class ArrayLayout { kHwc, kChw };
enum class ArrayType { kU8, kF32 };

// What the array of an image looks like. f32 is what torchvision's ToTensor and Normalize(mean, std) give, bit for bit:
// ((pixel / 255) - mean) / std, every step rounded to float. mean 0 and std 1 are ToTensor alone.
struct ArrayFormat {
  ArrayLayout layout = ArrayLayout::kHwc;
  ArrayType type = ArrayType::kU8;
  std::array<float, 3> mean = {0, 0, 0};
  std::array<float, 3> std = {1, 1, 1};
  bool operator==(const ArrayFormat&) const = default;
};

// The sides of the array in their order, the first one outermost. A grey image keeps its axis of length 1.
std::array<uint32_t, 3> ArrayShape(uint32_t width, uint32_t height, uint32_t channels, ArrayLayout layout);

// Bytes of the array. `channels` is 1 or 3.
uint64_t ArrayBytes(uint32_t width, uint32_t height, uint32_t channels, ArrayType type);

// Whether the array is the pixels as an Image has them.
bool KeepsPixels(uint32_t channels, const ArrayFormat& format);

// Writes the array, without a header; numbers are little-endian. A grey image takes the first mean and std.
// REQUIRES: `out` has ArrayBytes() bytes for the sizes of `image` (any alignment); no std is 0. Where KeepsPixels(),
// the pixels may be `out`; else they lie nowhere in it.
void WriteArray(const Image& image, const ArrayFormat& format, std::span<std::byte> out);

}  // namespace augur
