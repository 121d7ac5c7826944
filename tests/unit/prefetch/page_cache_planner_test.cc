// SPDX-License-Identifier: Apache-2.0
#include "prefetch/page_cache_planner.h"

#include <gtest/gtest.h>

#include <optional>

#include "planner_parts.h"
#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

constexpr uint64_t kFile = PlannerParts::kFileBytes;
constexpr uint64_t kWindowFiles = 1000;

// 2,000 files; the page cache has room for half of them, and nothing is left in it.
class PageCachePlannerTest : public testing::Test {
 protected:
  PageCachePlannerTest() {
    ReaderPositionOptions progress;
    progress.opens = true;
    parts_.in.reader.SetOptions(progress);
  }

  PlannerParts parts_{2000,
                      {.retained_bytes_max = 100 * kFile,
                       .staging_bytes_max = 1000 * kFile,
                       .push_window_bytes_max = kWindowFiles * kFile,
                       .sentinel_every = 64}};
  ReaderPages reader_pages_{parts_.in, parts_.states};
  PageCacheWindow window_{parts_.in, parts_.states, reader_pages_};
  RetentionPlanner retention_{parts_.in, parts_.states, window_};
  PageCachePlanner page_cache_{parts_.in, parts_.states, reader_pages_, window_, retention_};
};

TEST_F(PageCachePlannerTest, TheSoonestFileIsPushedButNoSentinel) {
  parts_.in.limits.retained_bytes_max = 0;
  for (const Slot slot : {65, 63, 64}) parts_.Hold(slot);
  std::optional<PushPlan> push = page_cache_.NextPush();
  ASSERT_TRUE(push.has_value());
  EXPECT_EQ(push->file, 64U);
  EXPECT_EQ(push->bytes, kFile);
  EXPECT_FALSE(page_cache_.Pushed(64, PushOutcome::kPushed).retain);
  EXPECT_EQ(parts_.states.staging().TakeReleased(), std::vector<EntryNumber>{64});
  push = page_cache_.NextPush();
  ASSERT_TRUE(push.has_value());
  EXPECT_EQ(push->file, 65U);
  EXPECT_EQ(page_cache_.NextPush(), std::nullopt);
}

TEST_F(PageCachePlannerTest, NoFileIsPushedThatTheWindowDoesNotReach) {
  ASSERT_LT(window_.End(), kWindowFiles);
  const Slot end = static_cast<Slot>(window_.End());
  parts_.Hold(end + 1);
  EXPECT_FALSE(window_.Takes(end + 1, kFile));
  EXPECT_EQ(page_cache_.NextPush(), std::nullopt);
  EXPECT_TRUE(window_.Takes(end, kFile));
}

TEST_F(PageCachePlannerTest, AFileIsKeptForALaterUse) {
  parts_.in.schedule.Append(Shared({5, 4}));
  parts_.Hold(5);
  ASSERT_TRUE(page_cache_.NextPush().has_value());
  EXPECT_TRUE(page_cache_.Pushed(5, PushOutcome::kPushed).retain);
  EXPECT_EQ(parts_.states.retained().UseOf(5), 2000U);
  EXPECT_TRUE(parts_.states.staging().TakeReleased().empty()) << "it is let go once it is kept";
  EXPECT_FALSE(parts_.states.staging().Holds(5));
}

TEST_F(PageCachePlannerTest, AFileWhoseBytesWereLostIsReadAgain) {
  parts_.Retain(0);
  EXPECT_EQ(parts_.states.NextMissing(), 1U);
  ASSERT_TRUE(page_cache_.NextPush().has_value());
  page_cache_.PushLost(0);
  EXPECT_EQ(parts_.states.NextMissing(), 0U);
  EXPECT_FALSE(parts_.states.retained().Contains(0));
}

TEST_F(PageCachePlannerTest, AFullWindowDropsWhatIsNeededLast) {
  for (Slot slot = 1000; slot < 1000 + kWindowFiles; ++slot) parts_.Push(slot);
  EXPECT_EQ(page_cache_.NextDrop(), std::nullopt) << "no file waits for the room";
  parts_.Hold(0);
  EXPECT_EQ(page_cache_.NextDrop(), 1999U);
  EXPECT_EQ(page_cache_.NextDrop(), 1998U);
  page_cache_.Dropped(1999);
  EXPECT_EQ(parts_.states.pages().dropping_bytes(), kFile);
}

TEST_F(PageCachePlannerTest, WhereDroppedFilesAreReadTheyAreDroppedLater) {
  const uint32_t lag = parts_.in.reader.options().lag;
  for (int read = 0; read < 15; ++read) page_cache_.ReadAfterDrop();
  EXPECT_EQ(parts_.in.reader.options().lag, lag);
  page_cache_.ReadAfterDrop();
  EXPECT_EQ(parts_.in.reader.options().lag, 2 * lag);
  for (int read = 0; read < 100; ++read) page_cache_.ReadAfterDrop();
  EXPECT_LE(parts_.in.reader.options().lag, kWindowFiles / 4) << "a quarter of the window";
}

TEST_F(PageCachePlannerTest, TakesAllThatIsPushedOrLeft) {
  parts_.Push(1);
  parts_.in.limits.reusable_bytes_max = 10 * kFile;
  reader_pages_.LeaveForReuse(1);
  parts_.Push(2);
  EXPECT_EQ(page_cache_.TakeAll(), (std::vector<EntryNumber>{2, 1}));
  EXPECT_TRUE(page_cache_.TakeAll().empty());
}

}  // namespace
}  // namespace augur
