// SPDX-License-Identifier: Apache-2.0
#include "predict/rank_arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>

#include "predict/identified_order.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

class RankArrivalsTest : public testing::Test {
 protected:
  static constexpr uint32_t kSamples = 4000;

  EntryNumber FileAt(uint32_t place) const { return whole_.order->files()[place]; }

  const std::shared_ptr<const SampleList> list_ = ListOf(kSamples);
  const Guess guess_ = {.sampler = MakeTorchSampler(FreshSeedRecipe("torch", 5)),
                        .share = {.world_size = 8, .ranks = {2}}};
  const IdentifiedOrder whole_ = MakeIdentifiedOrder(list_, {.sampler = guess_.sampler});
  RankArrivals arrivals_{MakeIdentifiedOrder(list_, guess_)};
};

TEST_F(RankArrivalsTest, ARankThatBeginsLaterIsFollowed) {
  std::optional<RankSubset> share;
  uint32_t reads = 0;
  for (; !share && reads < 20; ++reads) {
    arrivals_.OnExpectedRead(1);
    share = arrivals_.OnUnexpectedRead(FileAt(3 + 8 * reads), 2).share;
  }
  EXPECT_EQ(share.value_or(RankSubset()).Describe(), "ranks 2-3 of 8");
  EXPECT_LE(reads, 6U);
}

TEST_F(RankArrivalsTest, AProcessThatReadsForTwoRanksHasNone) {
  std::optional<RankSubset> share;
  for (uint32_t i = 0; !share && i < 20; ++i) {
    arrivals_.OnExpectedRead(1);
    share = arrivals_.OnUnexpectedRead(FileAt(3 + 8 * i), 1).share;
  }
  EXPECT_TRUE(share.value_or(guess_.share).IsAll());
}

TEST_F(RankArrivalsTest, AStrangerIsNoRank) {
  std::mt19937_64 random(3);
  for (uint32_t i = 0; i < 5000; ++i) {
    EXPECT_FALSE(
        arrivals_.OnUnexpectedRead(FileAt(static_cast<uint32_t>(random() % kSamples)), 2 + i % 3).share.has_value());
  }
  // And it hides none.
  std::optional<RankSubset> share;
  for (uint32_t i = 0; !share && i < 20; ++i) share = arrivals_.OnUnexpectedRead(FileAt(800 + 5 + 8 * i), 9).share;
  EXPECT_THAT(share.value_or(RankSubset()).ranks, testing::Contains(5));
}

}  // namespace
}  // namespace augur
