// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "search/compiled_query.h"

namespace augur {
namespace {

TEST(RemainderTest, EqualsADivisionForRandomNumbers) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200'000; ++round) {
    // Divisors of all lengths, with many trailing zeros now and then.
    auto divisor = static_cast<uint32_t>(random()) >> (random() % 32);
    if (random() % 4 == 0) divisor = divisor >> 16 << 16;
    if (divisor == 0) divisor = 1;
    const auto remainder = static_cast<uint32_t>(random() % divisor);
    const RemainderTest test(divisor, remainder);
    const uint32_t quotient_max = (0xffffffffU - remainder) / divisor;
    const uint32_t multiple = divisor * static_cast<uint32_t>(random() % (uint64_t{quotient_max} + 1)) + remainder;
    EXPECT_TRUE(test.Passes(multiple)) << multiple << " % " << divisor << " == " << remainder;
    const auto any = static_cast<uint32_t>(random());
    EXPECT_EQ(test.Passes(any), any % divisor == remainder) << any << " % " << divisor << " == " << remainder;
  }
}

// Where the difference x - remainder wraps: x is below the remainder, and so no match, whatever the difference is.
TEST(RemainderTest, IsExactAtTheEdges) {
  for (const uint32_t divisor : {1U, 2U, 3U, 5U, 1000U, 1U << 31, (1U << 31) + 1, 0xfffffffeU, 0xffffffffU}) {
    for (const uint32_t remainder : {0U, 1U, divisor / 2, divisor - 1}) {
      if (remainder >= divisor) continue;
      const RemainderTest test(divisor, remainder);
      for (uint32_t i = 0; i < 4000; ++i) {
        for (const uint32_t x : {i, 0U - 1 - i, divisor + i, divisor - i, remainder + i, remainder - i}) {
          ASSERT_EQ(test.Passes(x), x % divisor == remainder) << x << " % " << divisor << " == " << remainder;
        }
      }
    }
  }
}

}  // namespace
}  // namespace augur
