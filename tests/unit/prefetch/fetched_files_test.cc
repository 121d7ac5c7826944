// SPDX-License-Identifier: Apache-2.0
#include "prefetch/fetched_files.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

constexpr EntryNumber kFile = 7;

// Fetched at 0, in the page cache from 10 on, dropped at 20 before any use was told.
FetchedFiles Dropped() {
  FetchedFiles files;
  files.Fetched(kFile);
  files.Pushed(kFile, 10);
  EXPECT_FALSE(files.LetGo(kFile)) << "the page cache has it";
  files.Dropped(kFile, false);
  EXPECT_TRUE(files.LetGo(kFile));
  files.Doubt(kFile, 20);
  return files;
}

TEST(FetchedFilesTest, WhatWasUsedWasNotFetchedForNothing) {
  FetchedFiles files;
  files.Fetched(kFile);
  files.Pushed(kFile, 10);
  EXPECT_EQ(files.Used(kFile, false), 10U);
  EXPECT_EQ(files.Used(kFile, false), std::nullopt);
  files.Dropped(kFile, false);
  EXPECT_FALSE(files.LetGo(kFile));
}

TEST(FetchedFilesTest, WhereOpensAreNotSeenWhatWasPushedCountsAsUsed) {
  FetchedFiles files;
  files.Fetched(kFile);
  files.Pushed(kFile, 10);
  files.Dropped(kFile, true);
  EXPECT_FALSE(files.LetGo(kFile));
}

TEST(FetchedFilesTest, WhatNobodyOpensIsWastedAfterAWhile) {
  FetchedFiles files = Dropped();
  EXPECT_EQ(files.TakeWasted(20), std::nullopt);
  EXPECT_EQ(files.TakeWasted(21), kFile);
  EXPECT_EQ(files.TakeWasted(1000), std::nullopt);
}

TEST(FetchedFilesTest, AnOpenThatIsToldLateIsAUse) {
  FetchedFiles files = Dropped();
  EXPECT_EQ(files.Used(kFile, false), std::nullopt);
  EXPECT_EQ(files.TakeWasted(1000), std::nullopt);
}

TEST(FetchedFilesTest, AReadThatThePageCacheDidNotHaveIsNone) {
  FetchedFiles files = Dropped();
  EXPECT_EQ(files.Used(kFile, true), std::nullopt);
  EXPECT_EQ(files.TakeWasted(1000), kFile);
}

TEST(FetchedFilesTest, BytesThatAReadWaitedForAreUsed) {
  FetchedFiles files;
  files.Begun(kFile);
  EXPECT_EQ(files.Used(kFile, true), std::nullopt);
  files.Fetched(kFile);
  EXPECT_FALSE(files.LetGo(kFile));
}

// An open alone takes no bytes, and a READ before the read has got its own.
TEST(FetchedFilesTest, BytesThatNoReadWaitedForAreNot) {
  FetchedFiles files;
  files.Begun(kFile);
  EXPECT_EQ(files.Used(kFile, false), std::nullopt);
  files.Fetched(kFile);
  EXPECT_TRUE(files.LetGo(kFile)) << "only opened";
  EXPECT_EQ(files.Used(kFile, true), std::nullopt);
  files.Begun(kFile);
  files.Fetched(kFile);
  EXPECT_TRUE(files.LetGo(kFile)) << "read before";
  files.Begun(kFile);
  EXPECT_EQ(files.Used(kFile, true), std::nullopt);
  files.Unjoined(kFile);
  files.Fetched(kFile);
  EXPECT_TRUE(files.LetGo(kFile)) << "another thread was reading it";
}

TEST(FetchedFilesTest, EachDoubtHasItsOwnTime) {
  FetchedFiles files = Dropped();
  files.Doubt(kFile, 50);
  EXPECT_EQ(files.TakeWasted(40), std::nullopt);
  EXPECT_EQ(files.TakeWasted(51), kFile);
}

}  // namespace
}  // namespace augur
