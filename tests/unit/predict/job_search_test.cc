// SPDX-License-Identifier: Apache-2.0
#include "predict/job_search.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>

#include "seed_search/searcher.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

TEST(JobSearchTest, ATryIsDueWhenTheReadsHaveDoubled) {
  JobSearch search(300);
  EXPECT_FALSE(search.IsDue(JobSearch::kReadsFirst - 1));
  EXPECT_TRUE(search.IsDue(JobSearch::kReadsFirst));
  search.SetTried(10);
  EXPECT_FALSE(search.IsDue(19));
  EXPECT_TRUE(search.IsDue(20));
  EXPECT_TRUE(search.HasMore(10));
  EXPECT_FALSE(search.HasMore(10));
  EXPECT_TRUE(search.HasMore(12));
  search.Restart();
  EXPECT_TRUE(search.IsDue(JobSearch::kReadsFirst));
  EXPECT_TRUE(search.HasMore(12));
}

// What costs a tenth of a second is tried until there were reads enough to tell it, and once more with eight times as
// many, or with all that can be compared.
TEST(JobSearchTest, VariantsAreTriedTwiceWithReadsEnough) {
  EpochStart epoch;
  epoch.streams.resize(1);
  JobSearch search(300);
  EXPECT_TRUE(search.TriesVariants(epoch, 3, false));
  EXPECT_TRUE(search.TriesVariants(epoch, 6, true));
  EXPECT_FALSE(search.TriesVariants(epoch, 12, true));
  EXPECT_TRUE(search.TriesVariants(epoch, 48, true));
  EXPECT_FALSE(search.TriesVariants(epoch, 63, true));
  EXPECT_TRUE(search.TriesVariants(epoch, 64, true));
  epoch.pass = 2;
  search.Restart();
  EXPECT_FALSE(search.TriesVariants(epoch, 64, true));
}

TEST(JobSearchTest, TheStatusSaysWhyTheOrderIsNotKnown) {
  JobSearch search(0.5);
  EXPECT_EQ(search.Describe(), "");
  search.Fail(24);
  EXPECT_EQ(search.Describe(), "not understood after 24 reads");
  search.allowance()->Take(std::chrono::seconds(1));
  search.Fail(48);
  EXPECT_EQ(search.Describe(),
            "not understood after 48 reads; not searched for any more: the searches of this run have taken 0.5 "
            "core-seconds");
  search.Succeed();
  EXPECT_EQ(search.Describe(), "");
}

// A search in the background of reads that tell nothing.
class SearchInBackgroundTest : public testing::Test {
 protected:
  void SetUp() override {
    auto searcher = Searcher::Start({.threads = 1, .idle_class = false});
    ASSERT_TRUE(searcher.ok()) << searcher.status().text();
    searcher_ = std::move(searcher).value();
  }
  void Begin(JobSearch* search, uint64_t number) { Begin(search, number, {}); }
  // ... of these reads of a list of 1,000 samples.
  void Begin(JobSearch* search, uint64_t number, const EpochStart& epoch) {
    SearchRequest request;
    request.tests.emplace_back(ListOf(1000), epoch);
    search->Begin(number, std::make_shared<OrderSearch>(*searcher_, std::make_shared<std::vector<KnownSampler>>(),
                                                        std::move(request), [](const auto&) {}));
  }

  std::unique_ptr<Searcher> searcher_;
};

TEST_F(SearchInBackgroundTest, OnlyTheResultOfTheSearchThatRunsIsOfInterest) {
  JobSearch search(300);
  EXPECT_FALSE(search.End(0, std::nullopt));
  Begin(&search, 7);
  EXPECT_TRUE(search.running());
  EXPECT_FALSE(search.End(6, std::nullopt));
  EXPECT_TRUE(search.running());
  EXPECT_TRUE(search.End(7, std::nullopt));
  EXPECT_FALSE(search.running());
  EXPECT_FALSE(search.End(7, std::nullopt));
  Begin(&search, 8);
  search.BeginPass();
  EXPECT_FALSE(search.running());
  EXPECT_FALSE(search.End(8, std::nullopt));
  // Seeds were not searched: no search of them has failed.
  EXPECT_FALSE(search.failed());
}

// An epoch of a thousand files ends before all seeds are searched, and so will the next ones. A validation set of a
// hundred says nothing of the training that follows.
TEST_F(SearchInBackgroundTest, ASearchThatAnEpochEndsHasFailed) {
  EpochStart epoch;
  EpochStream& stream = epoch.streams.emplace_back();
  stream.id = 1;
  for (uint32_t i = 0; i < 32; ++i) stream.reads.push_back({.file = ListOf(1000)->files()[i * 377 % 1000]});
  for (const int files : {100, 1000}) {
    JobSearch search(300);
    Begin(&search, 1, epoch);
    for (int read = 0; read < files; ++read) search.CountRead();
    search.BeginPass();
    EXPECT_EQ(search.failed(), files == 1000) << files;
  }
}

TEST_F(SearchInBackgroundTest, ASeedThatWasFoundRenewsTheAllowance) {
  JobSearch search(0.5);
  IdentifiedOrder found;
  for (const bool seed : {false, true}) {
    if (seed) found.seed = 5;
    search.allowance()->Take(std::chrono::seconds(1));
    Begin(&search, 1);
    EXPECT_TRUE(search.End(1, found));
    EXPECT_EQ(search.allowance()->spent(), !seed);
  }
}

}  // namespace
}  // namespace augur
