// SPDX-License-Identifier: Apache-2.0
#include "prefetch/disk_regions.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kFileBytes = 100'000;
constexpr uint32_t kFiles = 1000;

class DiskRegionsTest : public testing::Test {
 protected:
  DiskRegionsTest() {
    Order order;
    for (EntryNumber file = 0; file < kFiles; ++file) order.push_back(file);
    schedule_.Append(Shared(order));
  }
  // Reads that take so long, one after the other while another is always under way, for so many windows at least.
  void Windows(int count, uint64_t read_us, uint64_t bytes) {
    disk_.Begin(now_us_);
    for (int read = 0; read < 1000 * count; ++read) {
      disk_.Begin(now_us_);
      now_us_ += read_us;
      disk_.End(now_us_, bytes);
    }
    ASSERT_GE(disk_.windows(), count);
  }
  void Visits(int count) {
    for (int i = 0; i < count; ++i) regions_.BeginVisit(disk_);
  }

  ReadSchedule schedule_{[](EntryNumber file) {
    return FilePlace{.shard = file / 500, .offset = uint64_t{file % 500} * kFileBytes, .bytes = kFileBytes};
  }};
  DiskModel disk_;
  DiskRegions regions_{schedule_, 4 * kMiB};
  uint64_t now_us_ = 1;
};

TEST_F(DiskRegionsTest, AFileLiesInOneTileAndShardsShareNone) {
  EXPECT_FALSE(regions_.used());
  Visits(1);
  ASSERT_TRUE(regions_.used());
  uint32_t regions = 0;
  for (uint32_t rank = 0; rank < kFiles; ++regions) {
    const Slot slot = schedule_.by_address()[rank];
    const std::span<const Slot> region = regions_.Around(slot);
    ASSERT_EQ(region.front(), slot);
    for (const Slot file : region) {
      EXPECT_TRUE(regions_.Same(slot, file));
      EXPECT_EQ(schedule_.PlaceOf(file).shard, schedule_.PlaceOf(slot).shard);
      EXPECT_EQ(regions_.Around(file).data(), region.data());
    }
    rank += static_cast<uint32_t>(region.size());
  }
  EXPECT_EQ(regions, regions_.count());
}

// Where nothing was learned of the disk since they have their size, nothing speaks for another.
TEST_F(DiskRegionsTest, KeepTheirSizeUntilTheDiskHasSpokenAgainstIt) {
  Visits(1);
  const uint64_t first = regions_.bytes();
  Visits(10'000);
  EXPECT_EQ(regions_.bytes(), first) << "the model's first guess is of a disk on which reads cost nothing";
  Windows(20, 100, kFileBytes);
  Visits(1000);
  EXPECT_LT(regions_.bytes(), first);
}

}  // namespace
}  // namespace augur
