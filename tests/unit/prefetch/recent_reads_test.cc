// SPDX-License-Identifier: Apache-2.0
#include "prefetch/recent_reads.h"

#include <gtest/gtest.h>

#include <vector>

namespace augur {
namespace {

constexpr uint64_t kLag = 3;

void CountReads(RecentReads* reads, int count) {
  for (int i = 0; i < count; ++i) reads->Count();
}

TEST(RecentReadsTest, AFileIsDoneAfterTheLag) {
  RecentReads reads;
  reads.Count();
  reads.Add(7);
  reads.Count();
  reads.Add(8);
  CountReads(&reads, 2);
  EXPECT_TRUE(reads.TakeDone(kLag).empty());
  EXPECT_TRUE(reads.Contains(7));
  reads.Count();
  EXPECT_EQ(reads.seen(), 5U);
  EXPECT_EQ(reads.TakeDone(kLag), std::vector<Slot>{7});
  EXPECT_FALSE(reads.Contains(7));
  EXPECT_TRUE(reads.TakeDone(kLag).empty());
  EXPECT_TRUE(reads.Contains(8));
}

TEST(RecentReadsTest, AFileThatIsReadAgainIsDoneOnce) {
  RecentReads reads;
  reads.Add(7);
  reads.Add(8);
  CountReads(&reads, 2);
  reads.Add(7);
  CountReads(&reads, 2);
  EXPECT_EQ(reads.TakeDone(kLag), std::vector<Slot>{8}) << "of 7 only the first read is done";
  EXPECT_TRUE(reads.TakeDone(kLag).empty());
  EXPECT_TRUE(reads.Contains(7));
  CountReads(&reads, 10);
  EXPECT_EQ(reads.TakeDone(kLag), std::vector<Slot>{7});
  EXPECT_TRUE(reads.TakeDone(kLag).empty());
}

}  // namespace
}  // namespace augur
