// SPDX-License-Identifier: Apache-2.0
#include "prefetch/staging.h"

#include <gtest/gtest.h>
#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

constexpr uint64_t kRecordBytes = 1000;

// Odd files are made of their records, and have ten times the bytes.
FilePlace Place(EntryNumber file) {
  const bool rendered = file % 2 == 1;
  return {.shard = 0,
          .offset = file * kRecordBytes,
          .record_bytes = kRecordBytes,
          .bytes = rendered ? 10 * kRecordBytes : kRecordBytes,
          .rendered = rendered};
}

class StagingTest : public testing::Test {
 protected:
  StagingTest() {
    schedule_.Append(Shared({0, 1, 2, 3}));
    staging_.Meet();
  }
  static ReadPlan Read() {
    return {.bytes = 3 * kRecordBytes, .items = {{.file = 0, .place = Place(0)}, {.file = 1, .place = Place(1)}}};
  }

  ReadSchedule schedule_{Place};
  Staging staging_{schedule_};
};

TEST_F(StagingTest, CountsReadsAndWhatIsMadeOfThem) {
  const ReadPlan read = Read();
  staging_.Begin(read);
  EXPECT_TRUE(staging_.IsReading(0));
  EXPECT_FALSE(staging_.IsReading(2));
  EXPECT_EQ(staging_.reads_under_way(), 1U);
  EXPECT_EQ(staging_.reading_bytes(), 3 * kRecordBytes);
  EXPECT_EQ(staging_.wanted_bytes(), 11 * kRecordBytes);
  EXPECT_EQ(staging_.coming_bytes(), 13 * kRecordBytes);
  staging_.End(read);
  EXPECT_EQ(staging_.reads_under_way(), 0U);
  EXPECT_EQ(staging_.coming_bytes(), 10 * kRecordBytes) << "the record of a file that is yet to be rendered";
  staging_.Arrive(read.items[0], true);
  staging_.Arrive(read.items[1], false);
  EXPECT_EQ(staging_.coming_bytes() + staging_.wanted_bytes(), 0U);
  EXPECT_FALSE(staging_.IsReading(0) || staging_.IsReading(1));
  EXPECT_FALSE(staging_.IsBad(0));
  EXPECT_TRUE(staging_.IsBad(1));
}

TEST_F(StagingTest, WhatCannotBeReadIsTriedAgainWhenItsReaderIsDoneWithItUpToAMaximum) {
  const ReadPlan::Item item = {.file = 1, .place = Place(1)};
  const auto read = [&](bool ok) {
    const ReadPlan plan = {.bytes = kRecordBytes, .items = {item}};
    staging_.Begin(plan);
    staging_.End(plan);
    staging_.Arrive(item, ok);
  };
  for (int i = 1; i < Staging::kTriesMax; ++i) {
    read(false);
    EXPECT_TRUE(staging_.IsBad(1)) << i;
    EXPECT_TRUE(staging_.TryAgain(1)) << i;
    EXPECT_FALSE(staging_.IsBad(1)) << i;
    EXPECT_FALSE(staging_.TryAgain(1)) << i;
  }
  read(true);  // so those before it count no more
  for (int i = 1; i < Staging::kTriesMax; ++i) read(false);
  EXPECT_TRUE(staging_.TryAgain(1));
  for (int i = 0; i < 1000; ++i) read(false);
  EXPECT_FALSE(staging_.TryAgain(1)) << "enough";
  EXPECT_TRUE(staging_.IsBad(1));
  staging_.TryAnew(1);
  EXPECT_FALSE(staging_.IsBad(1));
}

TEST_F(StagingTest, AReadThatWasPutBackLeavesNoTrace) {
  staging_.Begin(Read());
  staging_.PutBack(Read());
  EXPECT_EQ(staging_.reads_under_way(), 0U);
  EXPECT_EQ(staging_.coming_bytes() + staging_.wanted_bytes(), 0U);
  EXPECT_FALSE(staging_.IsReading(0));
}

TEST_F(StagingTest, TellsWhatItReleasesButNotWhatWasLetGo) {
  for (const Slot slot : {1, 2, 3}) staging_.Hold(slot);
  EXPECT_EQ(staging_.held_files(), 3U);
  EXPECT_EQ(staging_.held_bytes(), 21 * kRecordBytes);
  staging_.LetGo(1);
  staging_.Release(2);
  EXPECT_EQ(staging_.TakeReleased(), std::vector<EntryNumber>{2});
  EXPECT_TRUE(staging_.TakeReleased().empty());
  EXPECT_EQ(staging_.held_bytes(), 10 * kRecordBytes);
  EXPECT_FALSE(staging_.Holds(2));
  EXPECT_TRUE(staging_.Holds(3));
}

}  // namespace
}  // namespace augur
