// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/entry.h"

namespace augur {

// What names a value in the fleet's cache, and how large it is. Whoever makes the hash answers for it: two values may
// never have one key.
struct FleetKey {
  Hash128 hash;
  uint64_t size = 0;

  // As memcached has it: at most 250 letters, none of them blank. "augur1" is the version of the values: bytes as they
  // are.
  std::string text() const;
  bool operator==(const FleetKey&) const = default;
};

}  // namespace augur
