// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace augur {

static_assert(std::endian::native == std::endian::little, "numbers of containers are taken from memory as they are");

// The little-endian number at `offset`. REQUIRES: `bytes` has it.
template <typename Number>
Number NumberAt(std::span<const std::byte> bytes, size_t offset) {
  Number number = {};
  std::memcpy(&number, bytes.subspan(offset, sizeof(number)).data(), sizeof(number));
  return number;
}

// ... of `size` bytes, 8 at most.
inline uint64_t NumberAt(std::span<const std::byte> bytes, size_t offset, size_t size) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.subspan(offset, size).data(), size);
  return number;
}

}  // namespace augur
