// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_mode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace augur {
namespace {

constexpr uint64_t kFileBytes = 110'000;
constexpr uint64_t kMiB = 1 << 20;

class ReadModeTest : public testing::Test {
 protected:
  // Reads as the mode says, of a file or of a region of four, one after the other while another is always under way,
  // until this number of windows was learned from. Returns how often the mode has changed.
  int Windows(int count, double read_us, double byte_us) {
    const int end = disk_.windows() + count;
    int changes = 0;
    disk_.Begin(now_us_);
    while (disk_.windows() < end) {
      if (mode_.in_regions()) regions_.BeginVisit(disk_);
      const uint64_t bytes = mode_.in_regions() ? 4 * kFileBytes : kFileBytes;
      disk_.Begin(now_us_);
      now_us_ += static_cast<uint64_t>(std::max(read_us, byte_us * static_cast<double>(bytes)));
      disk_.End(now_us_, bytes);
      if (mode_.Choose(kFileBytes)) ++changes;
    }
    disk_.Withdraw();
    return changes;
  }

  DiskModel disk_;
  ReadSchedule schedule_{[](EntryNumber file) {
    return FilePlace{
        .shard = 0, .offset = file * kFileBytes, .record_bytes = kFileBytes, .bytes = kFileBytes, .rendered = false};
  }};
  DiskRegions regions_{schedule_, 4 * kMiB};
  ReadMode mode_{disk_, regions_};
  uint64_t now_us_ = 1;
};

TEST_F(ReadModeTest, FilesAreReadOneByOneWhereReadsAreCheap) {
  EXPECT_EQ(Windows(100, 50, 0.002), 0);
  EXPECT_FALSE(mode_.in_regions());
}

TEST_F(ReadModeTest, RegionsAreReadWhereAReadCostsMuchMoreThanItsBytes) {
  EXPECT_EQ(Windows(4, 6667, 0.0067), 0) << "not before three windows of a known disk say so";
  EXPECT_EQ(Windows(100, 6667, 0.0067), 1);
  EXPECT_TRUE(mode_.in_regions());
}

TEST_F(ReadModeTest, TheFirstWindowDecidesWhereTheDiskIsKnown) {
  Windows(100, 6667, 0.0067);
  ReadMode next(disk_, regions_);
  EXPECT_TRUE(next.Choose(kFileBytes));
  EXPECT_TRUE(next.in_regions());
  EXPECT_FALSE(next.Choose(kFileBytes)) << "no window is counted twice";
}

// The reads of a file take long because of its bytes. That shows only when longer reads are tried.
TEST_F(ReadModeTest, RegionsThatBringNoMoreAreLeftAndTriedLessAndLess) {
  constexpr int kWindows = 1000;
  const int tries = Windows(kWindows, 100, 0.04);
  EXPECT_FALSE(mode_.in_regions());
  EXPECT_GE(tries, 2 * 2);
  EXPECT_LE(tries, 2 * 6) << "after 32 windows, 64, 128, 256, 512";
}

}  // namespace
}  // namespace augur
