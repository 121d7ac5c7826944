// SPDX-License-Identifier: Apache-2.0
#include "samplers/rank_subset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace augur {
namespace {

using ::testing::ElementsAre;

// What is kept of the places themselves.
IndexOrder Kept(const RankSubset& share, size_t places, uint64_t first_place = 0) {
  IndexOrder indices(places);
  std::iota(indices.begin(), indices.end(), static_cast<uint32_t>(first_place));
  share.Keep(first_place, &indices);
  return indices;
}

TEST(RankSubsetTest, EverythingUnlessSaidOtherwise) {
  EXPECT_TRUE(RankSubset{}.IsAll());
  EXPECT_EQ(Kept(RankSubset{}, 5).size(), 5U);
  EXPECT_EQ(RankSubset{}.PlacesFor(17), 17U);
  EXPECT_EQ(RankSubset{}.Describe(), "all ranks");
}

TEST(RankSubsetTest, StridedRanks) {
  const RankSubset share{.world_size = 4, .ranks = {0, 2}};
  EXPECT_THAT(Kept(share, 9), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_EQ(share.Describe(), "ranks 0,2 of 4");
  // A sampler that never ends: 10 samples, epoch 1 begins at rank 10 mod 4.
  EXPECT_THAT(Kept(RankSubset{.world_size = 4, .ranks = {1}}, 10, 10), ElementsAre(13, 17));
}

// The example in the documentation of accelerate's BatchSamplerShard: two processes, batches [0 1 2 3] [4 5 6 7].
TEST(RankSubsetTest, WholeBatchesInTurn) {
  RankSubset share{.kind = RankSubset::Kind::kBatches, .world_size = 2, .ranks = {0}, .batch = 4};
  EXPECT_THAT(Kept(share, 8), ElementsAre(0, 1, 2, 3));
  share.ranks = {1};
  EXPECT_THAT(Kept(share, 8), ElementsAre(4, 5, 6, 7));
}

TEST(RankSubsetTest, SlicesOfEachBatch) {
  RankSubset share{.kind = RankSubset::Kind::kSlices, .world_size = 2, .ranks = {0}, .batch = 4};
  EXPECT_THAT(Kept(share, 8), ElementsAre(0, 1, 4, 5));
  share.ranks = {1};
  EXPECT_THAT(Kept(share, 8), ElementsAre(2, 3, 6, 7));
}

TEST(RankSubsetTest, OnePieceOfTheOrder) {
  const RankSubset share = RankSubset::Piece(3, 7);
  EXPECT_THAT(Kept(share, 10), ElementsAre(3, 4, 5, 6));
  EXPECT_EQ(share.PlacesFor(2), 5U);
  EXPECT_EQ(share.KeptBefore(5), 2U);
  EXPECT_EQ(share.Describe(), "places 3 to 6");
}

TEST(RankSubsetTest, EnoughPlacesForAPrefix) {
  for (const RankSubset::Kind kind :
       {RankSubset::Kind::kStrided, RankSubset::Kind::kBatches, RankSubset::Kind::kSlices}) {
    for (const std::vector<uint64_t>& ranks : {std::vector<uint64_t>{7}, {0, 1, 2, 3}, {2, 5}}) {
      const RankSubset share{.kind = kind, .world_size = 8, .ranks = ranks, .batch = 16};
      for (uint64_t count = 0; count < 100; ++count) EXPECT_GE(Kept(share, share.PlacesFor(count)).size(), count);
    }
  }
  EXPECT_EQ((RankSubset{.world_size = 8, .ranks = {4, 5, 6, 7}}).Describe(), "ranks 4-7 of 8");
}

}  // namespace
}  // namespace augur
