// SPDX-License-Identifier: Apache-2.0
#include "readers/last_readers.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(LastReadersTest, TheLastReadOfAFileCounts) {
  LastReaders readers;
  readers.Add(5, 1, 10);
  EXPECT_TRUE(readers.IsOfOther(5, 2, 10));
  EXPECT_FALSE(readers.IsOfOther(5, 2, 11)) << "before that";
  EXPECT_FALSE(readers.IsOfOther(5, 1, 10)) << "its own";
  EXPECT_FALSE(readers.IsOfOther(6, 2, 10)) << "another file";
  readers.Add(5, 2, 12);
  EXPECT_FALSE(readers.IsOfOther(5, 2, 10));
  EXPECT_TRUE(readers.IsOfOther(5, 1, 11));
}

TEST(LastReadersTest, ReadsOfLongAgoAreForgotten) {
  LastReaders readers;
  readers.Add(1, 1, 1);
  readers.Add(2, 1, 2);
  uint64_t number = 3;
  for (; number <= LastReaders::kReadsMax; ++number) readers.Add(static_cast<EntryNumber>(number), 1, number);
  EXPECT_TRUE(readers.IsOfOther(1, 2, 0));
  readers.Add(2, 1, number++);  // the first read is forgotten for it
  EXPECT_FALSE(readers.IsOfOther(1, 2, 0));
  readers.Add(9'000, 1, number++);
  EXPECT_TRUE(readers.IsOfOther(2, 2, 0)) << "it was read again";
}

}  // namespace
}  // namespace augur
