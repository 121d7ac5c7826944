// SPDX-License-Identifier: Apache-2.0
#include "readers/job_pass.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace augur {
namespace {

constexpr size_t kFirstReadsMax = 3;

class JobPassTest : public testing::Test {
 protected:
  bool Add(StreamId stream, EntryNumber file) { return pass_.Add(stream, nullptr, {.file = file}, kFirstReadsMax); }

  FileSetBudget budget_{1 << 20};
  size_t first_reads_left_ = 5;
  JobPass pass_{7, &budget_, &first_reads_left_};
};

TEST_F(JobPassTest, KeepsTheFirstReadsOfEachStreamWithinTheBudget) {
  for (const EntryNumber file : {1, 2, 3, 4}) EXPECT_TRUE(Add(1, file));
  EXPECT_FALSE(Add(2, 1)) << "the other stream has read it";
  for (const EntryNumber file : {5, 6}) EXPECT_TRUE(Add(2, file));
  EXPECT_EQ(pass_.FirstReads(), 5U) << "three of the one, and what the budget leaves for the other";
  EXPECT_EQ(first_reads_left_, 0U);
  const EpochStart epoch = pass_.Describe(3, 10);
  EXPECT_EQ(epoch.job, 3U);
  EXPECT_EQ(epoch.pass, 7U);
  EXPECT_EQ(epoch.files, 6U);
  EXPECT_EQ(epoch.dataset_files, 10U);
  ASSERT_EQ(epoch.streams.size(), 2U);
  EXPECT_EQ(epoch.streams[0].read_count, 4U);
  EXPECT_EQ(epoch.streams[0].reads.size(), 3U);
  EXPECT_EQ(epoch.streams[1].read_count, 3U);
  EXPECT_EQ(epoch.streams[1].reads.size(), 2U);
}

TEST_F(JobPassTest, ReadsThatAreTakenBackGiveTheirRoomBack) {
  for (const EntryNumber file : {1, 2, 3, 4}) (void)Add(1, file);
  pass_.Open({.file = 3, .stream = 1, .unattributed = 11});
  std::vector<FirstRead> last = {{.file = 3}, {.file = 4}};
  pass_.TakeBack(1, &last);
  EXPECT_EQ(last[0].unattributed_before, 11U) << "it was one of the first, and its open is known";
  EXPECT_EQ(last[1].unattributed_before, FirstRead::kUnknown);
  EXPECT_EQ(pass_.read_count, 2U);
  EXPECT_EQ(pass_.FirstReads(), 2U);
  EXPECT_EQ(first_reads_left_, 3U);
}

TEST_F(JobPassTest, AWithdrawnReadWasNotMade) {
  for (const EntryNumber file : {1, 2}) (void)Add(0, file);
  pass_.Withdraw(1, true);
  EXPECT_EQ(pass_.read_count, 1U);
  EXPECT_EQ(pass_.files.count(), 1U);
  EXPECT_TRUE(Add(0, 1)) << "new again";
  const EpochStart epoch = pass_.Describe(0, 0);
  ASSERT_EQ(epoch.streams.size(), 1U);
  ASSERT_EQ(epoch.streams[0].reads.size(), 2U);
  EXPECT_EQ(epoch.streams[0].reads[0].file, 2U);
  EXPECT_EQ(epoch.streams[0].reads[1].file, 1U);
}

TEST(JobPassBudgetTest, ThePassGivesItsFirstReadsBackWhenItEnds) {
  FileSetBudget budget(1 << 20);
  size_t left = 5;
  {
    JobPass pass(0, &budget, &left);
    for (const EntryNumber file : {1, 2, 3}) (void)pass.Add(1, nullptr, {.file = file}, kFirstReadsMax);
    EXPECT_EQ(left, 2U);
  }
  EXPECT_EQ(left, 5U);
}

}  // namespace
}  // namespace augur
