// SPDX-License-Identifier: Apache-2.0
#include "predict/run_cost.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(RunCost, OnePerCentOfTenEpochsWhereNobodyKnows) {
  const RunCost run{.cores = 4, .seconds = 50, .epoch_seconds = 100};
  EXPECT_DOUBLE_EQ(run.WorthOfRun(), 40);
  EXPECT_DOUBLE_EQ(run.WorthOfEpoch(), 4);
  EXPECT_FALSE(run.MaySearch());
  EXPECT_TRUE(run.MayAsk(false));
}

TEST(RunCost, OfWhatItHasLastedWhereThatIsMore) {
  const RunCost run{.cores = 4, .seconds = 2000, .epoch_seconds = 100};
  EXPECT_DOUBLE_EQ(run.WorthOfRun(), 80);
  EXPECT_TRUE(run.MaySearch());
}

TEST(RunCost, OfWhatItIsExpectedToLast) {
  RunCost run{.cores = 2, .seconds = 1, .epoch_seconds = 1000, .expected_seconds = 30};
  EXPECT_DOUBLE_EQ(run.WorthOfRun(), 0.6);
  EXPECT_DOUBLE_EQ(run.WorthOfEpoch(), 0.6) << "it ends before its first epoch does";
  EXPECT_FALSE(run.MayAsk(true));
  run.expected_seconds = 200;
  EXPECT_TRUE(run.MayAsk(true)) << "once in a run";
  EXPECT_FALSE(RunCost({.cores = 2, .seconds = 150, .epoch_seconds = 50, .expected_seconds = 200}).MayAsk(false));
}

// Epochs of 300 s on two cores: the first search may be paid for. It took 40 core-seconds, so the next one has to wait
// until the run has lasted so long that both are one per cent of it.
TEST(RunCost, AllSearchesOfARunTogether) {
  RunCost run{.cores = 2, .seconds = 10, .epoch_seconds = 300};
  EXPECT_TRUE(run.MaySearch());
  run.paid = 40;
  run.seconds = 600;
  EXPECT_FALSE(run.MaySearch());
  run.seconds = 5000;
  EXPECT_TRUE(run.MaySearch());
}

}  // namespace
}  // namespace augur
