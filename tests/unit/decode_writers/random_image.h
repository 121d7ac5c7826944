// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "decode/image.h"

namespace augur {

inline Image RandomImage(uint32_t width, uint32_t height, uint32_t channels, uint32_t seed = 1) {
  std::mt19937 random(seed);
  Image image = MakeImage(width, height, channels);
  for (size_t i = 0; i < image.bytes(); ++i) image.pixels[i] = static_cast<uint8_t>(random());
  return image;
}

// Bytes that a writer has to overwrite, between guards that it has to leave alone.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t bytes) : bytes_(bytes + 2 * kGuard, std::byte{0xA5}) {}
  std::span<std::byte> span() { return std::span(bytes_).subspan(kGuard, bytes_.size() - 2 * kGuard); }
  const uint8_t* data() { return reinterpret_cast<const uint8_t*>(span().data()); }
  bool guards_hold() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (bytes_[i] != std::byte{0xA5} || bytes_[bytes_.size() - 1 - i] != std::byte{0xA5}) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 65;  // odd, so that nothing is aligned
  std::vector<std::byte> bytes_;
};

}  // namespace augur
