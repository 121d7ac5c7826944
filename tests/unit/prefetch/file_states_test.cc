// SPDX-License-Identifier: Apache-2.0
#include "prefetch/file_states.h"

#include <gtest/gtest.h>

#include "planner_parts.h"
#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

class FileStatesTest : public testing::Test {
 protected:
  bool IsReady(Slot slot) const { return parts_.states.ready().Contains(slot); }

  PlannerParts parts_{10,
                      {.retained_bytes_max = 1 << 20, .staging_bytes_max = 8 << 20, .push_window_bytes_max = 1 << 20}};
  FileStates& states_ = parts_.states;
};

TEST_F(FileStatesTest, FindsTheFirstFileThatIsNowhere) {
  EXPECT_EQ(states_.NextMissing(), 0U);
  parts_.Hold(0);
  states_.staging().Begin(PlannerParts::Read(1));
  parts_.Push(2);
  parts_.Retain(3);
  EXPECT_EQ(states_.NextMissing(), 4U);
  states_.pages().pushed().Remove(2);
  states_.Reclassify(2);
  EXPECT_EQ(states_.NextMissing(), 2U) << "a file that is lost is looked for again";
  states_.staging().Arrive(PlannerParts::Read(1).items[0], false);
  states_.Reclassify(1);
  EXPECT_EQ(states_.NextMissing(), 2U) << "a bad file is not";
}

TEST_F(FileStatesTest, AFileCanBePushedWhenItsBytesAreThereAndThePageCacheHasNone) {
  EXPECT_FALSE(IsReady(5));
  parts_.Hold(5);
  EXPECT_TRUE(IsReady(5));
  states_.pages().BeginPush(5);
  states_.Reclassify(5);
  EXPECT_FALSE(IsReady(5));
  states_.pages().EndPush(5);
  ASSERT_TRUE(states_.pages().Refuse(5, PushOutcome::kUnknown, false));
  states_.Reclassify(5);
  EXPECT_FALSE(IsReady(5)) << "before the stat";
  states_.pages().Statted(5);
  states_.Reclassify(5);
  EXPECT_TRUE(IsReady(5));
  parts_.Push(5);
  EXPECT_FALSE(IsReady(5));
  parts_.Retain(6);
  EXPECT_TRUE(IsReady(6));
}

TEST_F(FileStatesTest, AReleasedFileIsToldOnceAndMissing) {
  parts_.Hold(0);
  EXPECT_EQ(states_.NextMissing(), 1U);
  states_.Release(0);
  states_.Release(0);
  EXPECT_EQ(states_.staging().TakeReleased(), std::vector<EntryNumber>{0});
  EXPECT_EQ(states_.NextMissing(), 0U);
  EXPECT_FALSE(IsReady(0));
}

// The retained cache has a file for the use after that which the page cache serves.
TEST_F(FileStatesTest, AFileThatIsCachedIsKeptForTheUseAfterTheNext) {
  parts_.in.schedule.Append(Shared({3, 2, 1, 0}));
  parts_.Retain(0);
  EXPECT_EQ(states_.retained().UseOf(0), 0U);
  parts_.Push(0);
  EXPECT_EQ(states_.retained().UseOf(0), 13U);
  parts_.Retain(7);
  parts_.Push(7);
  EXPECT_EQ(states_.retained().UseOf(7), kNever);
}

TEST_F(FileStatesTest, WithoutAnOrderNoFileIsHeld) {
  parts_.Hold(4);
  parts_.in.schedule.Clear();
  parts_.in.reader.Restart(parts_.in.schedule.end());
  parts_.in.fill = true;
  states_.ComputeUsesAnew();
  EXPECT_TRUE(states_.staging().Holds(4)) << "a fill pushes it";
  EXPECT_EQ(states_.ready().UseOf(4), FileStates::kHeldNever);
  parts_.in.fill = false;
  states_.ComputeUsesAnew();
  EXPECT_FALSE(states_.staging().Holds(4));
  EXPECT_EQ(states_.NextMissing(), kNever);
}

}  // namespace
}  // namespace augur
