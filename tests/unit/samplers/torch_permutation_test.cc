// SPDX-License-Identifier: Apache-2.0
#include "samplers/torch_permutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

// All expected numbers were printed by torch 2.15.0; tests/frameworks compares with the installed one.
namespace augur {
namespace {

using ::testing::ElementsAre;

IndexOrder Permutation(uint64_t seed, uint64_t samples, size_t count) {
  IndexOrder indices;
  TorchPermutationOfSeed(seed, samples, count, &indices);
  return indices;
}

TEST(TorchPermutationTest, IsTorchs) {
  EXPECT_THAT(Permutation(42, 12, 12), ElementsAre(6, 8, 1, 7, 0, 2, 10, 11, 4, 3, 5, 9));
  EXPECT_THAT(Permutation(42, 1, 1), ElementsAre(0));
}

TEST(TorchPermutationTest, OnlyTheLowHalfOfASeedMatters) {
  const IndexOrder indices = Permutation((uint64_t{1} << 32) + 42, 1281167, 1281167);
  ASSERT_EQ(indices.size(), 1281167U);
  EXPECT_THAT(IndexOrder(indices.begin(), indices.begin() + 5), ElementsAre(772957, 412848, 214023, 1211721, 1197191));
  EXPECT_THAT(IndexOrder(indices.end() - 3, indices.end()), ElementsAre(263909, 1202960, 495690));
  EXPECT_EQ(indices, Permutation(42, 1281167, SIZE_MAX));
}

// A short prefix is taken from the outputs alone, a longer one from an engine and a map, most of it from the whole
// list.
TEST(TorchPermutationTest, APrefixIsTheBeginningOfTheWhole) {
  for (const uint64_t samples : {2, 100, 20000, 100003}) {
    const IndexOrder whole = Permutation(7, samples, samples);
    IndexOrder sorted = whole;
    std::ranges::sort(sorted);
    for (uint32_t i = 0; i < samples; ++i) ASSERT_EQ(sorted[i], i);
    for (const size_t count : {0, 1, 6, 227, 228, 300, 1500, 1600, 50000}) {
      const size_t taken = std::min<size_t>(count, samples);
      ASSERT_EQ(Permutation(7, samples, count), IndexOrder(whole.begin(), whole.begin() + taken))
          << count << " of " << samples;
    }
  }
}

TEST(TorchPermutationTest, AStreamOfPermutationsGoesOnBehindTheOutputsOfEach) {
  // Both from torch.Generator().manual_seed(9), one randperm(11) after the other.
  const IndexOrder first = Permutation(9, 11, 11);
  Mt19937 engine = TorchEngine(9);
  IndexOrder indices;
  TorchPermutation(engine, 11, 11, &indices);
  EXPECT_EQ(indices, first);
  engine.Discard(TorchPermutationOutputs(11));
  TorchPermutation(engine, 11, 11, &indices);
  // detectron2's TrainingSampler(11, seed=9) as rank 1 of 4 gives 9 7 10 | 8 1 9 of the first two: places 1 5 9 and 2
  // 6 10.
  EXPECT_THAT((IndexOrder{first[1], first[5], first[9], indices[2], indices[6], indices[10]}),
              ElementsAre(9, 7, 10, 8, 1, 9));
}

TEST(TorchPermutationTest, VeryLongListsAreBuiltInsideOut) {
  EXPECT_THAT(Permutation(42, kTorchWideSamples - 1, 6),
              ElementsAre(105399001, 199900638, 3068019, 143601337, 137413004, 127521970));
  EXPECT_THAT(Permutation(42, kTorchWideSamples, 6),
              ElementsAre(85514504, 93417259, 199404010, 60269803, 87481865, 115296688));
  EXPECT_EQ(TorchPermutationOutputs(kTorchWideSamples), 2 * kTorchWideSamples);
}

TEST(TorchPermutationTest, NumbersWithReplacement) {
  IndexOrder indices;
  TorchReplacement(TorchEngine(5), kTorchWideRandint - 1, 4, &indices);
  EXPECT_THAT(indices, ElementsAre(148147046, 236996814, 250105852, 80864970));
  TorchReplacement(TorchEngine(5), kTorchWideRandint, 4, &indices);
  EXPECT_THAT(indices, ElementsAre(236996814, 80864957, 220060790, 180152393));
}

}  // namespace
}  // namespace augur
