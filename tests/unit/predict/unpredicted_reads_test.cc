// SPDX-License-Identifier: Apache-2.0
#include "predict/unpredicted_reads.h"

#include <gtest/gtest.h>

#include <vector>

namespace augur {
namespace {

std::vector<EntryNumber> Files(const UnpredictedReads& reads) {
  std::vector<EntryNumber> files;
  for (const UnpredictedRead& read : reads.all()) files.push_back(read.file);
  return files;
}

TEST(UnpredictedReadsTest, TheStreamsOfAPassAreReadSideBySide) {
  EpochStart epoch;
  epoch.streams.resize(2);
  epoch.streams[0].id = 1;
  epoch.streams[0].reads = {{.file = 10}, {.file = 11}, {.file = 12}};
  epoch.streams[1].id = 2;
  epoch.streams[1].reads = {{.file = 20}};
  UnpredictedReads reads;
  reads.Add(5, 1);
  reads.Begin(epoch);
  EXPECT_EQ(Files(reads), (std::vector<EntryNumber>{10, 20, 11, 12}));

  const EpochStart again = reads.AsEpoch(7);
  EXPECT_EQ(again.job, 7U);
  ASSERT_EQ(again.streams.size(), 2U);
  EXPECT_EQ(again.streams[0].id, 1U);
  ASSERT_EQ(again.streams[0].reads.size(), 3U);
  EXPECT_EQ(again.streams[0].reads[2].file, 12U);
  ASSERT_EQ(again.streams[1].reads.size(), 1U);
  EXPECT_EQ(again.streams[1].reads[0].file, 20U);
}

TEST(UnpredictedReadsTest, AReadThatDoesNotAgreeIsForgottenAfterTwoThatDo) {
  UnpredictedReads reads;
  reads.Note(1, 1, true);
  EXPECT_TRUE(reads.all().empty());
  reads.Note(2, 1, false);
  reads.Note(3, 1, true);
  EXPECT_EQ(Files(reads), (std::vector<EntryNumber>{2, 3}));
  reads.Note(4, 1, true);
  EXPECT_TRUE(reads.all().empty());
}

// Every second read agrees by chance: all of them are what is known of the order that is read now.
TEST(UnpredictedReadsTest, WhatAgreesBetweenReadsThatDoNotIsKept) {
  UnpredictedReads reads;
  for (EntryNumber file = 0; file < 10; ++file) reads.Note(file, 1, file % 2 == 1);
  EXPECT_EQ(reads.all().size(), 10U);
  reads.BeginFollowing();
  reads.Note(11, 1, true);
  EXPECT_TRUE(reads.all().empty());
}

TEST(UnpredictedReadsTest, ThoseThatWerePredictedAfterAllAreLetGo) {
  UnpredictedReads reads;
  for (EntryNumber file = 0; file < 6; ++file) reads.Add(file, 1);
  reads.Remove([](const UnpredictedRead& read) { return read.file != 4; });
  EXPECT_EQ(Files(reads), (std::vector<EntryNumber>{4}));
}

}  // namespace
}  // namespace augur
