// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// A number that looks random for each number: one step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom
// number generators, OOPSLA 2014).
inline uint64_t Mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

}  // namespace augur
