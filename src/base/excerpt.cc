// SPDX-License-Identifier: Apache-2.0
#include "base/excerpt.h"

#include "base/units.h"

namespace augur {

std::string Excerpt(std::string_view bytes, size_t bytes_max) {
  if (bytes.size() <= bytes_max) return Printable(bytes);
  // The bytes of a character behind its first one are 10xxxxxx, three at most.
  constexpr size_t kTailMax = 3;
  size_t end = bytes_max;
  for (size_t back = 0; back < kTailMax && end > 0; ++back, --end) {
    if ((static_cast<unsigned char>(bytes[end]) & 0xC0u) != 0x80u) break;
  }
  return Printable(bytes.substr(0, end)) + "... (" + FormatCount(bytes.size()) + " bytes)";
}

std::string FormatCount(uint64_t count) {
  constexpr size_t kGroup = 3;
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > kGroup;) {
    at -= kGroup;
    text.insert(at, 1, ',');
  }
  return text;
}

}  // namespace augur
