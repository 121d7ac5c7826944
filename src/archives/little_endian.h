// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace augur {

// Puts the lowest `bytes` bytes of the number behind the text, the lowest first.
inline void AddLittleEndian(uint64_t number, size_t bytes, std::string* text) {
  for (size_t i = 0; i < bytes; ++i) *text += static_cast<char>(number >> (8 * i));
}

}  // namespace augur
