// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "search/seed_query.h"

namespace augur {

// Whether x % divisor == remainder, for any 32-bit x, without a division: x - remainder is a multiple of the divisor
// when, multiplied by the inverse (modulo 2^32) of the divisor's odd part and rotated right by the number of its
// trailing zeros, it is at most the greatest quotient. Where x < remainder the difference wraps and lies above all
// multiples below 2^32 - remainder, so the greatest quotient is that of 2^32 - 1 - remainder, and the test is exact.
// Source: Granlund, Montgomery, "Division by invariant integers using multiplication", PLDI 1994, section 9.
struct RemainderTest {
  uint32_t remainder = 0;
  uint32_t inverse = 0;
  uint32_t shift = 0;  // 0 to 31
  uint32_t limit = 0;

  RemainderTest() = default;
  // REQUIRES: remainder < divisor.
  RemainderTest(uint32_t divisor, uint32_t remainder);
  bool Passes(uint32_t x) const { return std::rotr((x - remainder) * inverse, static_cast<int>(shift)) <= limit; }
};

// CompiledQuery is a SeedQuery made ready for the vector loop: each clue a test of one output of the generator.
// Immutable.
struct CompiledQuery {
  struct Clue {
    uint32_t output = 0;  // its number in the stream: offset + position
    RemainderTest test;
  };
  // What must hold for one offset: any clue of `any_of` and, unless `only_any`, any clue of `and_any_of`.
  struct Begin {
    uint32_t offset = 0;
    bool only_any = true;
    std::vector<Clue> any_of;
    std::vector<Clue> and_any_of;
  };
  std::vector<Begin> begins;  // without those that nothing can agree with
  uint32_t outputs = 0;       // needed of the stream: 0 to outputs - 1

  // REQUIRES: as SeedScan's constructor.
  explicit CompiledQuery(const SeedQuery& query);
};

}  // namespace augur
