// SPDX-License-Identifier: Apache-2.0
#include "samplers/end_shuffle_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace augur {
namespace {

using Seeds = std::vector<uint64_t>;

// The first `seen` indices of a list that was shuffled with the seed.
FirstReads ReadsOf(ListShuffler shuffler, uint64_t samples, uint64_t seed, size_t seen) {
  FirstReads first{.shuffler = shuffler, .samples = samples};
  ListShuffleSampler({.shuffler = shuffler, .seed = seed}).Take(samples, 0, seen, &first.reads);
  return first;
}

class EndShuffleSearchTest : public testing::TestWithParam<ListShuffler> {};

TEST_P(EndShuffleSearchTest, TheTrueSeedIsTheOnlySurvivor) {
  for (const uint64_t seed : {0U, 1U, 777U, 4999U}) {
    EndShuffleSearch search(ReadsOf(GetParam(), 20000, seed, 100));
    EXPECT_EQ(search.Search(0, 5000), Seeds{seed});
  }
}

TEST_P(EndShuffleSearchTest, ASearchLeavesNothingBehind) {
  EndShuffleSearch search(ReadsOf(GetParam(), 3000, 9, 60));
  for (int round = 0; round < 3; ++round) EXPECT_EQ(search.Search(0, 100), Seeds{9});
  EndShuffleSearch copy = search;
  EXPECT_TRUE(copy.Fits(9));
  EXPECT_FALSE(copy.Fits(10));
}

TEST_P(EndShuffleSearchTest, ReadsMayBeUnseenAndOutOfOrderWithinTheSlack) {
  constexpr uint64_t kSlack = 200;
  std::mt19937 random(1);
  FirstReads first = ReadsOf(GetParam(), 50000, 123, 400);
  for (size_t i = 0; i + 16 <= first.reads.size(); i += 16) {
    std::shuffle(first.reads.begin() + static_cast<ptrdiff_t>(i), first.reads.begin() + static_cast<ptrdiff_t>(i) + 16,
                 random);
  }
  for (size_t i = 0; i < first.reads.size(); ++i) first.reads.erase(first.reads.begin() + static_cast<ptrdiff_t>(i));
  first.slack = kSlack + 16;
  EXPECT_EQ(EndShuffleSearch(first).Search(0, 1000), Seeds{123});
  // Half of the reads were seen, so without slack they are further back than they seem.
  first.slack = 0;
  EXPECT_EQ(EndShuffleSearch(first).Search(0, 1000), Seeds{});
}

TEST_P(EndShuffleSearchTest, ForeignReadsFitNothing) {
  FirstReads first{.shuffler = GetParam(), .samples = 20000};
  for (uint32_t i = 0; i < 100; ++i) first.reads.push_back(i * 7);
  EXPECT_EQ(EndShuffleSearch(first).Search(0, 5000), Seeds{});
}

TEST_P(EndShuffleSearchTest, SmallListsAndWholeEpochs) {
  for (const uint64_t samples : {1U, 2U, 3U, 12U, 64U, 65U}) {
    EndShuffleSearch search(ReadsOf(GetParam(), samples, 5, samples));
    const Seeds found = search.Search(0, 200);
    EXPECT_TRUE(std::ranges::find(found, 5U) != found.end()) << samples;
    if (samples >= 12) {
      EXPECT_EQ(found, Seeds{5}) << samples;
    }
  }
}

TEST_P(EndShuffleSearchTest, StopsWhenToldTo) {
  EndShuffleSearch search(ReadsOf(GetParam(), 1000, 5000, 30));
  int asked = 0;
  EXPECT_EQ(search.Search(0, 1000000, [&] { return ++asked == 2; }), Seeds{});
  EXPECT_EQ(asked, 2);
}

INSTANTIATE_TEST_SUITE_P(Shufflers, EndShuffleSearchTest,
                         testing::Values(ListShuffler::kNumpyRandomState, ListShuffler::kNumpyGenerator,
                                         ListShuffler::kPython));

}  // namespace
}  // namespace augur
