// SPDX-License-Identifier: Apache-2.0
#include "samplers/mt19937.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace augur {
namespace {

// The outputs that the authors published beside mt19937ar.c (mt19937ar.out), init_by_array of four words.
TEST(Mt19937Test, AnArrayOfWordsGivesThePublishedOutputs) {
  const std::array<uint32_t, 4> key = {0x123, 0x234, 0x345, 0x456};
  Mt19937 engine(key);
  for (const uint32_t wanted : {1067595299U, 955945823U, 477289528U, 4107218783U, 4228976476U}) {
    EXPECT_EQ(engine.Next(), wanted);
  }
}

// [rand.predef] of the C++ standard: the 10,000th output of a default-constructed mt19937.
TEST(Mt19937Test, TheTenThousandthOutputIsTheStandards) {
  Mt19937 engine(5489);
  engine.Discard(9999);
  EXPECT_EQ(engine.Next(), 4123659995U);
}

TEST(Mt19937Test, EqualsTheStandardLibrary) {
  for (const uint32_t seed : {0U, 1U, 42U, 0x80000000U, 0xffffffffU}) {
    Mt19937 engine(seed);
    std::mt19937 standard(seed);
    for (int i = 0; i < 3000; ++i) ASSERT_EQ(engine.Next(), standard()) << "seed " << seed << ", output " << i;
  }
}

TEST(Mt19937Test, DiscardIsTheSameAsTakingWhereverTheStateEnds) {
  for (const uint64_t before : {0, 1, 623, 624, 700}) {
    for (const uint64_t count : {0, 1, 226, 623, 624, 625, 1247, 1248, 5000}) {
      Mt19937 engine(7);
      std::mt19937 standard(7);
      for (uint64_t i = 0; i < before; ++i) engine.Next();
      engine.Discard(count);
      standard.discard(before + count);
      EXPECT_EQ(engine.Next(), standard()) << before << " then " << count;
    }
  }
}

TEST(Mt19937Test, FirstOutputsAreTheEngines) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{6}, kFirstOutputsMax}) {
    const std::vector<uint32_t> outputs = FirstOutputs(20261121, count);
    ASSERT_EQ(outputs.size(), count);
    std::mt19937 standard(20261121);
    for (const uint32_t output : outputs) EXPECT_EQ(output, standard());
  }
}

TEST(Mt19937Test, JoinsTwoOutputsWithTheFirstAsTheHighHalf) {
  std::mt19937 standard(42);
  const uint64_t high = standard();
  EXPECT_EQ(Mt19937(42).Next64(), (high << 32) | standard());
}

}  // namespace
}  // namespace augur
