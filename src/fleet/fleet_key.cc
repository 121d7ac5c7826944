// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_key.h"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace augur {

std::string FleetKey::text() const {
  std::array<char, 64> text;
  const int length = std::snprintf(text.data(), text.size(), "augur1-%016" PRIx64 "%016" PRIx64 "-%" PRIx64, hash.high,
                                   hash.low, size);
  return {text.data(), static_cast<size_t>(length)};
}

}  // namespace augur
