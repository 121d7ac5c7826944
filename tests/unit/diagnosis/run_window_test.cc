// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/run_window.h"

#include <gtest/gtest.h>

#include "unit/diagnosis/made_run.h"

namespace augur {
namespace {

using State = OrderReport::State;

TEST(RunWindow, KnowsWhatReadersWaitFor) {
  const RunWindow window = MadeRun().Workers(4, 0.5, 0.5).Took(Histogram::kReadWaitUs, 1000, 20'000).Window();
  EXPECT_DOUBLE_EQ(window.wait_share(), 0.5);  // 20 of 40 s
  EXPECT_EQ(window.readers(), 4u);
  EXPECT_DOUBLE_EQ(window.readers_processors(), 2.0);
  EXPECT_DOUBLE_EQ(window.machine_busy(), 0.5);
  EXPECT_DOUBLE_EQ(MadeRun().Took(Histogram::kReadWaitUs, 1000, 20'000).Window().wait_share(), 1.0);
  EXPECT_LT(MadeRun().Window().machine_busy(), 0);
}

TEST(RunWindow, KnowsHowBusyTheDiskIs) {
  const RunWindow window =
      MadeRun().Counted(Stat::kDiskBusyUs, 5'000'000).Took(Histogram::kDiskReadUs, 1000, 10'000).Window();
  EXPECT_DOUBLE_EQ(window.disk_busy(), 0.5);
  EXPECT_DOUBLE_EQ(window.reads_in_flight(), 2.0);
  EXPECT_DOUBLE_EQ(MadeRun().Window().reads_in_flight(), 0);
}

TEST(RunWindow, CountsFilesByTheBestThatIsKnown) {
  EXPECT_EQ(MadeRun().Counted(Stat::kReads, 7).Window().files(), 7u);
  EXPECT_EQ(MadeRun().Counted(Stat::kReads, 7).Counted(Stat::kOpens, 5).Window().files(), 7u);
  EXPECT_EQ(MadeRun().Counted(Stat::kReads, 7).Job(State::kKnown, 2, 5, "").Window().files(), 3u);
  EXPECT_EQ(MadeRun().Counted(Stat::kOpens, 5).Job(State::kKnown, 2, 5, "").Window().files(), 5u);
}

// As of a daemon that began anew: what it has counted since is all that is known.
TEST(RunWindow, TakesACounterThatWentBackFromZero) {
  RunSample before;
  RunSample after;
  before.reading.numbers.counters[static_cast<size_t>(Stat::kReads)] = 100;
  after.reading.numbers.counters[static_cast<size_t>(Stat::kReads)] = 30;
  before.reading.numbers.histograms[0].counts[3] = 50;
  after.reading.numbers.histograms[0].counts[2] = 4;
  after.reading.numbers.histograms[0].sum = 16;
  const RunWindow window(before, after);
  EXPECT_EQ(window.Delta(Stat::kReads), 30u);
  EXPECT_EQ(window.Delta(Histogram::kReadWaitUs).total(), 4u);
  EXPECT_EQ(window.Delta(Histogram::kReadWaitUs).sum, 16u);
  EXPECT_GT(window.seconds(), 0);
}

}  // namespace
}  // namespace augur
