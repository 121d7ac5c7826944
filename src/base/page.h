// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// A page of the kernel: what it reads, maps and caches files by.
inline constexpr uint64_t kPageBytes = 4096;

// The first multiple of the unit, such as a page, that is not below the number. REQUIRES: unit > 0.
constexpr uint64_t RoundUp(uint64_t number, uint64_t unit) { return (number + unit - 1) / unit * unit; }

}  // namespace augur
