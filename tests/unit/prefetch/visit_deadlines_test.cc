// SPDX-License-Identifier: Apache-2.0
#include "prefetch/visit_deadlines.h"

#include <gtest/gtest.h>

#include "planner_parts.h"

namespace augur {
namespace {

class VisitDeadlinesTest : public testing::Test {
 protected:
  // Makes the disk one on which regions are read.
  void ReadInRegions() {
    uint64_t now_us = 1;
    parts_.disk.Begin(now_us);
    for (int read = 0; read < 10'000 && !parts_.in.mode.in_regions(); ++read) {
      parts_.disk.Begin(now_us);
      parts_.disk.End(now_us += 10'000, PlannerParts::kFileBytes);
      parts_.in.mode.Choose(PlannerParts::kFileBytes);
    }
    ASSERT_TRUE(parts_.in.mode.in_regions());
    parts_.in.regions.BeginVisit(parts_.disk);
  }

  PlannerParts parts_{100,
                      {.retained_bytes_max = 1 << 20, .staging_bytes_max = 64 << 20, .push_window_bytes_max = 1 << 20}};
  VisitDeadlines& deadlines_ = parts_.states.deadlines();
};

TEST_F(VisitDeadlinesTest, WhereFilesAreReadOneByOneTheKeyIsTheUse) {
  EXPECT_EQ(deadlines_.Key(3, 77), 77U);
  EXPECT_EQ(deadlines_.Key(3, kNever), kNever);
}

TEST_F(VisitDeadlinesTest, FilesBeyondTheNextVisitAreEvictedFirst) {
  ReadInRegions();
  const std::span<const Slot> region = parts_.in.regions.Around(3);
  deadlines_.Set(region, 50);
  EXPECT_EQ(deadlines_.Key(3, 50), 50U);
  EXPECT_TRUE(deadlines_.Covers(3, 50));
  EXPECT_FALSE(deadlines_.Covers(3, 51));
  EXPECT_GT(deadlines_.Key(3, 51), deadlines_.Key(region.back(), 50) + 1'000'000);
  EXPECT_LT(deadlines_.Key(3, 51), kNever);
}

TEST_F(VisitDeadlinesTest, AProtectedFileThatIsEvictedEndsTheProtectionOfItsRegion) {
  ReadInRegions();
  const std::span<const Slot> region = parts_.in.regions.Around(3);
  deadlines_.Set(region, 50);
  deadlines_.Shorten(3, deadlines_.Key(3, 51));
  EXPECT_TRUE(deadlines_.Covers(region.back(), 50)) << "the file had no protection";
  deadlines_.Shorten(3, 40);
  EXPECT_FALSE(deadlines_.Covers(region.back(), 40));
  EXPECT_TRUE(deadlines_.Covers(region.back(), 39));
}

}  // namespace
}  // namespace augur
