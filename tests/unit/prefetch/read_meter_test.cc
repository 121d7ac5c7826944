// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_meter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace augur {
namespace {

// By the clock of the machine: how long it took is not known, only what must be less than what.
TEST(ReadMeter, CountsTheTimeWithAReadUnderWayOnce) {
  Statistics statistics;
  ReadMeter meter(statistics);
  const uint64_t first = meter.Begin();
  const uint64_t second = meter.Begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  meter.End(first);
  meter.End(second);
  const StatisticsSnapshot both = statistics.Snapshot();
  EXPECT_EQ(both[Histogram::kDiskReadUs].total(), 2u);
  EXPECT_GE(both[Stat::kDiskBusyUs], 2000u);
  EXPECT_LT(both[Stat::kDiskBusyUs], both[Histogram::kDiskReadUs].sum) << "two reads at a time";
}

TEST(ReadMeter, CountsNoTimeWithoutAReadUnderWay) {
  Statistics statistics;
  ReadMeter meter(statistics);
  meter.End(meter.Begin());
  const uint64_t busy_us = statistics.Snapshot()[Stat::kDiskBusyUs];
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  meter.Begin();
  EXPECT_EQ(statistics.Snapshot()[Stat::kDiskBusyUs], busy_us);
}

}  // namespace
}  // namespace augur
