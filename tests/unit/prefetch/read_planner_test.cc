// SPDX-License-Identifier: Apache-2.0
// How long reads are, and how many of them are under way, where files are read in the order in which they lie.
#include "prefetch/read_planner.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "planner_parts.h"
#include "prefetch/planner.h"

namespace augur {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class ReadPlannerTest : public testing::Test {
 protected:
  void SetUp() override {
    Order order(4000);
    std::iota(order.begin(), order.end(), 0U);
    planner_.Append(Shared(order));
  }

  // All reads that are begun at this time; returns their bytes.
  uint64_t Begin(uint64_t now_us) {
    uint64_t bytes = 0;
    while (const std::optional<ReadPlan> read = planner_.NextRead(now_us)) {
      bytes += read->bytes;
      under_way_.push_back(*read);
    }
    return bytes;
  }

  DiskModel disk_;
  Planner planner_{
      PlannerParts::Place,
      disk_,
      {.retained_bytes_max = 400 * kMiB, .staging_bytes_max = 100 * kMiB, .push_window_bytes_max = 400 * kMiB},
      {}};
  std::vector<ReadPlan> under_way_;
};

TEST_F(ReadPlannerTest, UrgentFilesThatLieTogetherAreOneRead) {
  EXPECT_LT(disk_.worth_gap_bytes(), PlannerParts::kFileBytes) << "a read costs less than a file";
  Begin(1);
  ASSERT_GE(under_way_.size(), 2U);
  for (const ReadPlan& read : {under_way_[0], under_way_[1]}) {
    EXPECT_TRUE(read.urgent);
    EXPECT_EQ(read.items.size(), kMiB / PlannerParts::kFileBytes);
  }
}

TEST_F(ReadPlannerTest, LittleIsUnderWayUntilTheDiskIsKnown) {
  const uint64_t first = Begin(1);
  EXPECT_GE(first, 4 * kMiB);
  EXPECT_LE(first, 12 * kMiB);
  uint64_t now_us = 1;
  // A megabyte a millisecond.
  while (!disk_.known()) {
    ASSERT_FALSE(under_way_.empty());
    now_us += 1'000;
    const ReadPlan read = under_way_.front();
    under_way_.erase(under_way_.begin());
    planner_.Ended(read, now_us, /*asked=*/true);
    for (const ReadPlan::Item& item : read.items) (void)planner_.Arrived(item, true);
    while (const std::optional<PushPlan> push = planner_.NextPush())
      (void)planner_.Pushed(push->file, PushOutcome::kPushed);
    Begin(now_us);
  }
  Begin(now_us);
  uint64_t bytes = 0;
  for (const ReadPlan& read : under_way_) bytes += read.bytes;
  EXPECT_GE(bytes, 2 * first);
}

// A control group of 150 reads a second lets 15 through at the beginning of a tenth of a second. Its pauses make the
// model forget what it took for the cost of a read, and only a slice in which reads wait to its end teaches it another.
TEST_F(ReadPlannerTest, ReadsWaitForASliceToEndWhileTheDiskIsNotKnownAgain) {
  constexpr uint64_t kSliceReads = 15;
  uint64_t now_us = 1;
  for (uint64_t read = 0; read < 4 * kSliceReads; ++read) disk_.Begin(now_us);
  for (int slice = 0; slice < 4; ++slice, now_us += 100'000) {
    for (uint64_t read = 0; read < kSliceReads; ++read) disk_.End(now_us + 300 * read, PlannerParts::kFileBytes);
  }
  ASSERT_FALSE(disk_.known());
  ASSERT_GT(disk_.read_us(), 3'000);
  while (const std::optional<ReadPlan> read = planner_.NextRead(now_us, /*alone=*/true)) under_way_.push_back(*read);
  EXPECT_GE(under_way_.size(), 10U);
}

}  // namespace
}  // namespace augur
