// SPDX-License-Identifier: Apache-2.0
#include "predict/job_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Order From(EntryNumber first, size_t count) {
  Order files(count);
  std::iota(files.begin(), files.end(), first);
  return files;
}

TEST(JobOrdersTest, OneJobStaysAsItIs) {
  EXPECT_EQ(InterleaveJobs({{.files = From(5, 100)}}, 1000), From(5, 100));
  EXPECT_EQ(InterleaveJobs({{.files = From(5, 100)}}, 30), From(5, 30));
  EXPECT_THAT(InterleaveJobs({}, 10), IsEmpty());
  EXPECT_THAT(InterleaveJobs({{.files = {}}, {.files = {}}}, 10), IsEmpty());
}

TEST(JobOrdersTest, EqualJobsTakeTurns) {
  EXPECT_THAT(InterleaveJobs({{.files = {1, 2, 3}}, {.files = {11, 12, 13}}}, 100), ElementsAre(1, 11, 2, 12, 3, 13));
}

TEST(JobOrdersTest, AFasterJobComesOftener) {
  const Order merged = InterleaveJobs(
      {{.files = From(0, 1000), .files_per_second = 30}, {.files = From(10'000, 1000), .files_per_second = 10}}, 400);
  ASSERT_EQ(merged.size(), 400U);
  for (size_t end = 40; end <= merged.size(); end += 40) {
    const auto slow = std::count_if(merged.begin(), merged.begin() + static_cast<ptrdiff_t>(end),
                                    [](EntryNumber file) { return file >= 10'000; });
    EXPECT_NEAR(static_cast<double>(slow), static_cast<double>(end) / 4, 1.0);
  }
}

TEST(JobOrdersTest, AnEndedJobLeavesTheTime) {
  EXPECT_THAT(InterleaveJobs({{.files = {1}}, {.files = {11, 12, 13}}}, 100), ElementsAre(1, 11, 12, 13));
}

// Whatever the speeds: each job in its own order, and nothing lost.
TEST(JobOrdersTest, EachJobKeepsItsOrder) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<JobOrder> jobs(1 + random() % 16);
    size_t all = 0;
    for (size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].files = From(static_cast<EntryNumber>(i * 1000), random() % 200);
      jobs[i].files_per_second = static_cast<double>(1 + random() % 1000) / 10;
      all += jobs[i].files.size();
    }
    const Order merged = InterleaveJobs(jobs, 1'000'000);
    EXPECT_EQ(merged.size(), all);
    std::vector<size_t> at(jobs.size(), 0);
    for (const EntryNumber file : merged) {
      JobOrder& job = jobs[file / 1000];
      ASSERT_LT(at[file / 1000], job.files.size());
      EXPECT_EQ(file, job.files[at[file / 1000]++]);
    }
  }
}

}  // namespace
}  // namespace augur
