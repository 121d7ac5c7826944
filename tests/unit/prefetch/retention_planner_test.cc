// SPDX-License-Identifier: Apache-2.0
#include "prefetch/retention_planner.h"

#include <gtest/gtest.h>

#include "planner_parts.h"

namespace augur {
namespace {

constexpr uint64_t kFile = PlannerParts::kFileBytes;

// 1,000 files, of which the retained cache has room for four; the reader is at the first.
class RetentionPlannerTest : public testing::Test {
 protected:
  RetentionPlannerTest() {
    for (const Slot slot : {100U, 200U, 300U, 400U}) EXPECT_TRUE(retention_.Plan(slot, slot).retain);
  }

  PlannerParts parts_{1000, {.retained_bytes_max = 4 * kFile, .staging_bytes_max = 64 * kFile}};
  ReaderPages reader_pages_{parts_.in, parts_.states};
  PageCacheWindow window_{parts_.in, parts_.states, reader_pages_};
  RetentionPlanner retention_{parts_.in, parts_.states, window_};
};

TEST_F(RetentionPlannerTest, TheFileThatIsNeededLastGoes) {
  const RetainPlan plan = retention_.Plan(50, 50);
  EXPECT_TRUE(plan.retain);
  EXPECT_EQ(plan.evict, std::vector<EntryNumber>{400});
  EXPECT_EQ(parts_.states.retained().bytes(), retention_.bytes_max());
}

TEST_F(RetentionPlannerTest, NotForAFileThatIsNeededAlmostAsLate) {
  EXPECT_FALSE(retention_.Takes(184, 184)) << "400 is not beyond 2 * 184 + 32";
  EXPECT_TRUE(retention_.Takes(183, 183));
  EXPECT_FALSE(retention_.Plan(184, 184).retain);
  EXPECT_FALSE(retention_.Plan(500, kNever).retain);
}

TEST_F(RetentionPlannerTest, FilesWithoutAUseGoFirst) {
  retention_.SetNotRetained(100);
  retention_.SetRetained(600);
  parts_.states.retained().Move(600, kNever);
  EXPECT_EQ(retention_.Plan(399, 399).evict, std::vector<EntryNumber>{600});
}

TEST_F(RetentionPlannerTest, WhatIsBeingReadCountsAsKept) {
  retention_.SetNotRetained(400);
  EXPECT_TRUE(retention_.Takes(900, 900));
  parts_.states.staging().Begin(PlannerParts::Read(5));
  EXPECT_FALSE(retention_.Takes(900, 900));
}

TEST_F(RetentionPlannerTest, WithRoomOnlyNoFileGoes) {
  EXPECT_FALSE(retention_.PlanWithRoom(1).retain);
  retention_.SetNotRetained(400);
  EXPECT_TRUE(retention_.PlanWithRoom(1).retain);
  EXPECT_FALSE(retention_.PlanWithRoom(1).retain) << "it is kept";
}

TEST_F(RetentionPlannerTest, RoomIsWhatIsFreeBesideTheReads) {
  EXPECT_EQ(retention_.room(), 0U);
  retention_.SetNotRetained(300);
  retention_.SetNotRetained(400);
  EXPECT_EQ(retention_.room(), 2 * kFile);
  parts_.states.staging().Begin(PlannerParts::Read(5));
  EXPECT_EQ(retention_.room(), kFile);
}

TEST_F(RetentionPlannerTest, TakesAllOnce) {
  EXPECT_EQ(retention_.TakeAll().size(), 4U);
  EXPECT_TRUE(retention_.TakeAll().empty());
  EXPECT_EQ(parts_.states.retained().bytes(), 0U);
}

// A quarter of the files would fit, but the page cache has room for all of them.
TEST(RetentionPlannerPagesTest, WhatThePageCacheHoldsIsNotKept) {
  PlannerParts parts(100, {.retained_bytes_max = 25 * kFile,
                           .staging_bytes_max = 64 * kFile,
                           .push_window_bytes_max = 10 * kFile,
                           .reusable_bytes_max = 200 * kFile,
                           .data_bytes = 100 * kFile,
                           .sentinel_every = 0});
  ReaderPages reader_pages(parts.in, parts.states);
  const PageCacheWindow window(parts.in, parts.states, reader_pages);
  RetentionPlanner retention(parts.in, parts.states, window);
  ASSERT_TRUE(window.HoldsAll());
  EXPECT_EQ(window.bytes_max(), 35 * kFile) << "with the retained cache's";
  parts.Push(1);
  EXPECT_FALSE(retention.Plan(1, 1).retain);
  EXPECT_FALSE(retention.PlanWithRoom(1).retain);
  parts.in.warm.Begin({1}, 100);
  EXPECT_TRUE(retention.PlanWithRoom(1).retain) << "it is to be warmed";
  retention.SetNotRetained(1);
  parts.in.warm.End();
  EXPECT_TRUE(retention.Plan(2, 2).retain) << "the page cache does not have it";
  EXPECT_EQ(window.bytes_max(), 34 * kFile);
  for (Slot slot = 3; slot < 23; ++slot) parts.Push(slot);
  EXPECT_EQ(retention.bytes_max(), (25 - 11) * kFile) << "21 are pushed, 11 of them in lent memory";
  parts.in.limits.reusable_bytes_max = 50 * kFile;
  EXPECT_FALSE(window.HoldsAll());
  EXPECT_TRUE(retention.Plan(1, 1).retain);
}

}  // namespace
}  // namespace augur
