// SPDX-License-Identifier: Apache-2.0
#include "samplers/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace augur {
namespace {

using ::testing::ElementsAre;

// What is kept of the places themselves.
IndexOrder Kept(const Share& share, size_t places, uint64_t first_place = 0) {
  IndexOrder indices(places);
  std::iota(indices.begin(), indices.end(), static_cast<uint32_t>(first_place));
  share.Keep(first_place, &indices);
  return indices;
}

TEST(ShareTest, EverythingUnlessSaidOtherwise) {
  EXPECT_TRUE(Share{}.IsAll());
  EXPECT_EQ(Kept(Share{}, 5).size(), 5U);
  EXPECT_EQ(Share{}.PlacesFor(17), 17U);
  EXPECT_EQ(Share{}.Describe(), "all ranks");
}

TEST(ShareTest, StridedRanks) {
  const Share share{.world_size = 4, .ranks = {0, 2}};
  EXPECT_THAT(Kept(share, 9), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_EQ(share.Describe(), "ranks 0,2 of 4");
  // A sampler that never ends: 10 samples, epoch 1 begins at rank 10 mod 4.
  EXPECT_THAT(Kept(Share{.world_size = 4, .ranks = {1}}, 10, 10), ElementsAre(13, 17));
}

// The example in the documentation of accelerate's BatchSamplerShard: two processes, batches [0 1 2 3] [4 5 6 7].
TEST(ShareTest, WholeBatchesInTurn) {
  Share share{.kind = Share::Kind::kBatches, .world_size = 2, .ranks = {0}, .batch = 4};
  EXPECT_THAT(Kept(share, 8), ElementsAre(0, 1, 2, 3));
  share.ranks = {1};
  EXPECT_THAT(Kept(share, 8), ElementsAre(4, 5, 6, 7));
}

TEST(ShareTest, SlicesOfEachBatch) {
  Share share{.kind = Share::Kind::kSlices, .world_size = 2, .ranks = {0}, .batch = 4};
  EXPECT_THAT(Kept(share, 8), ElementsAre(0, 1, 4, 5));
  share.ranks = {1};
  EXPECT_THAT(Kept(share, 8), ElementsAre(2, 3, 6, 7));
}

TEST(ShareTest, EnoughPlacesForAPrefix) {
  for (const Share::Kind kind : {Share::Kind::kStrided, Share::Kind::kBatches, Share::Kind::kSlices}) {
    for (const std::vector<uint64_t>& ranks : {std::vector<uint64_t>{7}, {0, 1, 2, 3}, {2, 5}}) {
      const Share share{.kind = kind, .world_size = 8, .ranks = ranks, .batch = 16};
      for (uint64_t count = 0; count < 100; ++count) EXPECT_GE(Kept(share, share.PlacesFor(count)).size(), count);
    }
  }
  EXPECT_EQ((Share{.world_size = 8, .ranks = {4, 5, 6, 7}}).Describe(), "ranks 4-7 of 8");
}

}  // namespace
}  // namespace augur
