// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/recycled_memory.h"

namespace augur {

// Decoded pixels of 8 bits, in memory of their own or of another object. Rows from top to bottom, the channels of a
// pixel side by side, no padding: [height][width][channels].
struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 0;  // 1 grey, 3 RGB
  RecycledMemory::Piece<uint8_t> pixels;

  size_t row_bytes() const { return size_t{width} * channels; }
  size_t bytes() const { return row_bytes() * height; }
  std::span<const uint8_t> span() const { return {pixels.get(), bytes()}; }
};

// With its pixels not yet written: in `room`, which must outlive them, where that has just their size; else in memory
// of their own.
inline Image MakeImage(uint32_t width, uint32_t height, uint32_t channels, std::span<uint8_t> room = {}) {
  Image image{.width = width, .height = height, .channels = channels, .pixels = nullptr};
  const bool fits = !room.empty() && room.size() == image.bytes();
  image.pixels = fits ? RecycledMemory::Borrow(room.data(), room.size()) : RecycledMemory::Take<uint8_t>(image.bytes());
  return image;
}

}  // namespace augur
