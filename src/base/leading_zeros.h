// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace augur {

// The decimal number with zeros in front, so that it has `count` digits at least.
inline std::string WithLeadingZeros(std::string digits, size_t count) {
  digits.insert(0, count - std::min(count, digits.size()), '0');
  return digits;
}

}  // namespace augur
