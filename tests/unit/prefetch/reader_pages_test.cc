// SPDX-License-Identifier: Apache-2.0
#include "prefetch/reader_pages.h"

#include <gtest/gtest.h>

#include "planner_parts.h"

namespace augur {
namespace {

constexpr uint64_t kFile = PlannerParts::kFileBytes;

// Room for 20 left files of 1,000.
class ReaderPagesTest : public testing::Test {
 protected:
  PlannerParts parts_{1000,
                      {.staging_bytes_max = 100 * kFile,
                       .push_window_bytes_max = 100 * kFile,
                       .reusable_bytes_max = 20 * kFile,
                       .sentinel_every = 0}};
  PageCacheFiles& pages_ = parts_.states.pages();
  ReaderPages reader_pages_{parts_.in, parts_.states};
};

TEST_F(ReaderPagesTest, LeavesFilesAsLongAsThereIsRoom) {
  for (Slot slot = 0; slot < 25; ++slot) {
    parts_.Push(slot);
    reader_pages_.LeaveForReuse(slot);
  }
  EXPECT_EQ(pages_.reusable().count(), 20U);
  EXPECT_EQ(pages_.pushed().count(), 5U) << "these are dropped";
  EXPECT_EQ(reader_pages_.TakeExcess(), std::nullopt);
  parts_.in.limits.reusable_bytes_max = 19 * kFile;
  EXPECT_TRUE(reader_pages_.TakeExcess().has_value());
  EXPECT_EQ(reader_pages_.TakeExcess(), std::nullopt);
}

TEST_F(ReaderPagesTest, ASentinelIsNotLeft) {
  parts_.in.limits.sentinel_every = 64;
  for (const Slot slot : {62, 63}) {
    parts_.Push(slot);
    reader_pages_.LeaveForReuse(slot);
  }
  EXPECT_TRUE(pages_.reusable().Contains(62));
  EXPECT_FALSE(pages_.reusable().Contains(63));
}

TEST_F(ReaderPagesTest, AFileThatIsReadElsewhereStaysUntilItsReaderHasIt) {
  parts_.in.limits.reusable_bytes_max = 0;
  reader_pages_.Count();
  reader_pages_.OnAccess(500, true, kNever);
  ASSERT_TRUE(pages_.pushed().Contains(500));
  EXPECT_EQ(pages_.pushed().UseOf(500), parts_.in.reader.front());
  for (uint32_t read = 0; read <= parts_.in.reader.options().lag; ++read) reader_pages_.Count();
  EXPECT_EQ(pages_.pushed().UseOf(500), 500U) << "then it may be dropped";
}

TEST_F(ReaderPagesTest, ManyLostFilesEndTheLeaving) {
  for (int lost = 0; lost < 64; ++lost) {
    const auto slot = static_cast<Slot>(lost);
    pages_.reusable().Add(slot, kNever, kFile);
    EXPECT_EQ(reader_pages_.reusable_bytes_max(), 20 * kFile);
    reader_pages_.OnAccess(slot, true, kNever);
    EXPECT_FALSE(pages_.reusable().Contains(slot));
  }
  EXPECT_EQ(reader_pages_.reusable_bytes_max(), 0U);
}

TEST_F(ReaderPagesTest, WhatWasDroppedByHandSaysNothingOfTheKernel) {
  const auto lose = [this](Slot first) {
    for (Slot slot = first; slot < first + 64; ++slot) {
      pages_.reusable().Add(slot, kNever, kFile);
      reader_pages_.OnAccess(slot, true, kNever);
    }
  };
  lose(0);
  EXPECT_EQ(reader_pages_.reusable_bytes_max(), 0U);
  pages_.reusable().Add(100, kNever, kFile);
  parts_.Push(200);
  reader_pages_.SetEmptied(true);
  EXPECT_EQ(reader_pages_.reusable_bytes_max(), 20 * kFile) << "it was told a moment later";
  EXPECT_FALSE(pages_.Contains(100));
  EXPECT_FALSE(pages_.Contains(200));
  lose(300);
  reader_pages_.SetEmptied(false);
  reader_pages_.SetEmptied(true);
  EXPECT_EQ(reader_pages_.reusable_bytes_max(), 0U) << "that was before";
}

TEST_F(ReaderPagesTest, AssumedFilesCountUntilManyAreGone) {
  for (Slot slot = 100; slot < 120; ++slot) reader_pages_.AssumeCached(slot);
  EXPECT_EQ(pages_.reusable().count(), 20U);
  for (Slot slot = 100; slot < 115; ++slot) reader_pages_.OnAccess(slot, true, kNever);
  EXPECT_EQ(pages_.reusable().count(), 5U);
  reader_pages_.OnAccess(115, true, kNever);
  EXPECT_EQ(pages_.reusable().count(), 0U);
  EXPECT_GT(reader_pages_.reusable_bytes_max(), 0U) << "the kernel is not to blame";
}

TEST_F(ReaderPagesTest, NoFileIsAssumedWhereSentinelsAreNeeded) {
  parts_.in.limits.sentinel_every = 64;
  reader_pages_.AssumeCached(1);
  EXPECT_EQ(pages_.reusable().count(), 0U);
}

}  // namespace
}  // namespace augur
