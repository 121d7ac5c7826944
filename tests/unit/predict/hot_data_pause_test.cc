// SPDX-License-Identifier: Apache-2.0
#include "predict/hot_data_pause.h"

#include <gtest/gtest.h>

#include <vector>

namespace augur {
namespace {

constexpr uint64_t kSecond = 1'000'000;

TEST(HotDataPauseTest, ThePauseKeepsTheLastAccessesAndGivesThoseOfTheLastSeconds) {
  Statistics statistics;
  HotDataPause pause({}, statistics, [] { return 0.0; });
  EXPECT_FALSE(pause.paused());
  pause.Begin();
  EXPECT_TRUE(pause.paused());
  for (EntryNumber file = 0; file < 2 * HotDataPause::kKeptMax; ++file) {
    pause.Keep({.file = file, .time_us = (file < HotDataPause::kKeptMax + 10 ? 1 : 20) * kSecond});
  }
  const std::vector<Access> late = pause.End(21 * kSecond);
  EXPECT_FALSE(pause.paused());
  ASSERT_EQ(late.size(), HotDataPause::kKeptMax - 10);
  EXPECT_EQ(late.front().file, HotDataPause::kKeptMax + 10);
  EXPECT_EQ(late.back().file, 2 * HotDataPause::kKeptMax - 1);
  pause.Begin();
  EXPECT_TRUE(pause.End(21 * kSecond).empty());
}

// Many small files come in one read of the disk: bytes tell how many, by the mean size of a file.
TEST(HotDataPauseTest, BytesFromTheDiskCountAsFilesOfTheMeanSize) {
  StoreSummary summary = {};
  summary.file_count = 1000;
  summary.tree_bytes = 999'000;  // 999 and one byte each
  Statistics statistics;
  HotDataPause pause(summary, statistics, {});
  (void)pause.Look(kSecond);
  pause.Count(100);
  EXPECT_EQ(pause.Look(2 * kSecond), DataHeat::Turn::kHot);
  statistics.Add(Stat::kDiskBytes, 14'000);
  EXPECT_EQ(pause.Look(2 * kSecond), DataHeat::Turn::kNone);
  statistics.Add(Stat::kDiskReads, 2);
  EXPECT_EQ(pause.Look(2 * kSecond), DataHeat::Turn::kCold);
}

}  // namespace
}  // namespace augur
