// SPDX-License-Identifier: Apache-2.0
#include "predict/predicted_epoch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "predict/epoch_follower.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

constexpr uint32_t kSamples = 12'000;

// What was left of an epoch of 12,000 files by one process that read each `step`-th place of the first `places`.
std::optional<RankSubset> LeftBehind(uint32_t places, uint32_t step = 1) {
  const auto list = ListOf(kSamples);
  PredictedEpoch epoch(
      MakeIdentifiedOrder(list, {.sampler = MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", 5))}),
      EpochFollower::kReachFirst, 0);
  const Order& files = epoch.identified.order->files();
  for (uint32_t place = 0; place < places; place += step) (void)epoch.follower->OnRead(files[place]);
  return epoch.LeftPiece();
}

// As DALI's shards and numpy.array_split cut a list.
TEST(PredictedEpochTest, TheFirstOfSomeRanksHasReadAPiece) {
  for (const uint32_t ranks : {2U, 4U, 8U, 32U}) {
    const std::optional<RankSubset> piece = LeftBehind(kSamples / ranks);
    if (!piece) FAIL() << ranks;
    EXPECT_EQ(piece->Describe(), "places 0 to " + std::to_string(kSamples / ranks - 1));
  }
}

// The places between its own are those of another rank, on another host.
TEST(PredictedEpochTest, ARankOfTwoHasReadNoPiece) { EXPECT_FALSE(LeftBehind(kSamples / 2, 2).has_value()); }

TEST(PredictedEpochTest, AnOrderThatIsLeftAfterAHundredReadsWasAnotherOne) {
  EXPECT_FALSE(LeftBehind(100).has_value());
}

// Batches of 64, of which drop_last leaves the last one, which is not full.
TEST(PredictedEpochTest, AnOrderThatIsReadButForItsLastBatchWasReadWhole) {
  EXPECT_FALSE(LeftBehind(kSamples - kSamples % 64).has_value());
}

}  // namespace
}  // namespace augur
