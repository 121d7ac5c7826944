// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "seed_search/compiled_query.h"

namespace augur {
namespace {

TEST(Divisor, LeavesWhatADivisionLeavesOfRandomNumbers) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200'000; ++round) {
    // Of all lengths, with many trailing zeros now and then.
    auto value = static_cast<uint32_t>(random()) >> (random() % 32);
    if (random() % 4 == 0) value = value >> 16 << 16;
    if (value == 0) value = 1;
    const Divisor divisor(value);
    const auto any = static_cast<uint32_t>(random());
    const uint32_t multiple = any / value * value;
    for (const uint32_t x : {any, multiple, multiple - 1, multiple + 1}) {
      EXPECT_EQ(divisor.Remainder(x), x % value) << x << " % " << value;
    }
  }
}

TEST(Divisor, IsExactAtTheEdges) {
  for (const uint32_t value : {1U, 2U, 3U, 5U, 1000U, 1U << 31, (1U << 31) + 1, 0xfffffffeU, 0xffffffffU}) {
    const Divisor divisor(value);
    for (uint32_t i = 0; i < 4000; ++i) {
      for (const uint32_t x : {i, 0U - 1 - i, value + i, value - i, value / 2 + i, value / 2 - i}) {
        ASSERT_EQ(divisor.Remainder(x), x % value) << x << " % " << value;
      }
    }
  }
}

}  // namespace
}  // namespace augur
