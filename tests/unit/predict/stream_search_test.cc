// SPDX-License-Identifier: Apache-2.0
#include "predict/stream_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "samplers/mt19937.h"

namespace augur {
namespace {

// A thread of the search that is alone.
class OnlyTurn final : public SearchTurn {
 public:
  explicit OnlyTurn(bool goes_on) : goes_on_(goes_on) {}
  bool Continue() override { return goes_on_; }
  void Found(uint64_t /*result*/) override { FAIL() << "the search looks at all streams"; }

 private:
  const bool goes_on_;
};

uint32_t Output(uint32_t stream_seed, uint64_t position) {
  Mt19937 stream(stream_seed);
  stream.Discard(position);
  return stream.Next();
}

// A stream that the user named is the first one that is searched. Its far places are found as its near ones are.
TEST(StreamSearchTest, TheSeedIsFoundInAHintedStream) {
  for (const uint64_t position : {uint64_t{0}, uint64_t{12'345'678}}) {
    std::optional<std::vector<StreamPosition>> told;
    const SearchJob job =
        MakeStreamSearchJob(Output(987'654, position), {987'654},
                            [&told](std::vector<StreamPosition> places) { told = std::move(places); });
    EXPECT_EQ(job.units, StreamSeeds({987'654}).size());
    OnlyTurn turn(true);
    job.work(0, 1, turn);
    EXPECT_FALSE(told.has_value());
    job.on_done({.end = SearchEnd::kExhausted, .progress = {}});
    ASSERT_TRUE(told.has_value());
    const StreamPosition right = {.stream_seed = 987'654, .position = position};
    EXPECT_EQ(std::ranges::count(*told, right), 1);
  }
}

// A search that was broken off says nothing of the streams that it did not reach.
TEST(StreamSearchTest, ASearchThatWasBrokenOffTellsNothing) {
  bool told = false;
  const SearchJob job = MakeStreamSearchJob(5, {}, [&told](const std::vector<StreamPosition>&) { told = true; });
  OnlyTurn turn(false);
  job.work(0, 1, turn);
  for (const SearchEnd end : {SearchEnd::kCancelled, SearchEnd::kSpent}) job.on_done({.end = end, .progress = {}});
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace augur
