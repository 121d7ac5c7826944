// SPDX-License-Identifier: Apache-2.0
#include "prefetch/page_cache_files.h"

#include <gtest/gtest.h>

#include "planner_parts.h"

namespace augur {
namespace {

class PageCacheFilesTest : public testing::Test {
 protected:
  // Pushes the file in vain; returns whether it waits for a stat.
  bool Refuse(PushOutcome outcome, bool once = false) {
    pages_.BeginPush(0);
    pages_.EndPush(0);
    return pages_.Refuse(0, outcome, once);
  }

  PlannerParts parts_{10, {.staging_bytes_max = 8 << 20, .push_window_bytes_max = 1 << 20}};
  PageCacheFiles& pages_ = parts_.states.pages();
};

TEST_F(PageCacheFilesTest, CountsFilesOnTheirWay) {
  pages_.pushed().Add(0, 0, parts_.in.PagesOf(0));
  pages_.BeginPush(1);
  pages_.BeginDrop(2);
  EXPECT_EQ(pages_.window_bytes(), 3 * PlannerParts::kFileBytes);
  pages_.BringIn(1);
  EXPECT_TRUE(pages_.EndPush(1));
  pages_.EndDrop(2);
  EXPECT_EQ(pages_.window_bytes(), PlannerParts::kFileBytes);
  pages_.BeginPush(1);
  EXPECT_FALSE(pages_.EndPush(1)) << "told once";
}

TEST_F(PageCacheFilesTest, AFileIsStattedOnceAndThenNotPushedUntilItsNextUse) {
  EXPECT_TRUE(Refuse(PushOutcome::kUnknown));
  EXPECT_FALSE(pages_.MayPush(0));
  pages_.Statted(0);
  EXPECT_TRUE(pages_.MayPush(0));
  EXPECT_FALSE(Refuse(PushOutcome::kUnknown));
  EXPECT_FALSE(pages_.MayPush(0));
  EXPECT_TRUE(pages_.IsUnpushable(0));
  EXPECT_TRUE(pages_.ForgetRefusal(0));
  EXPECT_TRUE(pages_.MayPush(0));
  EXPECT_TRUE(Refuse(PushOutcome::kUnknown)) << "then it is statted again";
}

TEST_F(PageCacheFilesTest, AStatThatEndsAfterThePushBeganWasTooLateForIt) {
  pages_.BeginPush(0);
  pages_.Statted(0);
  pages_.EndPush(0);
  EXPECT_TRUE(pages_.Refuse(0, PushOutcome::kUnknown, false));
}

TEST_F(PageCacheFilesTest, AFileThatIsStattedAheadIsPushedAfterThat) {
  pages_.BeginStat(0);
  EXPECT_FALSE(pages_.MayPush(0));
  pages_.Statted(0);
  EXPECT_TRUE(pages_.MayPush(0));
  EXPECT_TRUE(Refuse(PushOutcome::kUnknown)) << "the kernel has forgotten it since: it is statted again";
  pages_.Statted(0);
  EXPECT_TRUE(pages_.MayPush(0));
  EXPECT_FALSE(Refuse(PushOutcome::kUnknown));
}

TEST_F(PageCacheFilesTest, NoStatWhereItIsNotWorthIt) {
  EXPECT_FALSE(Refuse(PushOutcome::kUnknown, true));
  pages_.ForgetRefusal(0);
  EXPECT_FALSE(Refuse(PushOutcome::kEnded));
  EXPECT_FALSE(pages_.MayPush(0));
}

TEST_F(PageCacheFilesTest, ADroppedFileIsNotAssumedAnyMore) {
  pages_.SetAssumed(3);
  pages_.BeginDrop(3);
  EXPECT_FALSE(pages_.TakeAssumed(3));
}

}  // namespace
}  // namespace augur
