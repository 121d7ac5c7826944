// SPDX-License-Identifier: Apache-2.0
#include "predict/candidate_scorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "samplers/torch_recipes.h"
#include "unit/predict_evidence/loader_reads.h"

namespace augur {
namespace {

constexpr EntryNumber kFirstFile = 1000;

std::shared_ptr<const SampleList> ListOf(uint32_t count) {
  Order files(count);
  std::iota(files.begin(), files.end(), kFirstFile);
  return std::make_shared<const SampleList>("sorted glob of all files", "", std::move(files));
}

IndexOrder All(const Sampler& sampler, uint64_t samples, uint64_t epoch) {
  IndexOrder order;
  sampler.Take(samples, epoch, std::numeric_limits<size_t>::max(), &order);
  return order;
}

// The first `count` reads of the order from `begin` on, as the watch tells them.
EpochStart ReadsOf(const IndexOrder& order, const LoaderPlan& plan, size_t count, uint64_t seed, size_t begin = 0) {
  std::mt19937_64 random(seed);
  const auto length = static_cast<uint32_t>(std::min<size_t>(order.size() - begin, 8192));
  std::vector<LoaderRead> reads = LoaderReads(length, plan, random);
  reads.resize(std::min(reads.size(), count));
  EpochStart epoch;
  std::ranges::stable_sort(reads, {}, [](const LoaderRead& read) { return read.stream == 0 ? ~0U : read.stream; });
  for (const LoaderRead& read : reads) {
    if (epoch.streams.empty() || epoch.streams.back().id != read.stream) {
      epoch.streams.emplace_back().id = read.stream;
      epoch.streams.back().starts_at_first_read = read.stream != 0 && plan.unseen == 0;
    }
    epoch.streams.back().reads.push_back({.file = kFirstFile + order[begin + read.place]});
    ++epoch.streams.back().read_count;
  }
  return epoch;
}

std::vector<std::shared_ptr<const Sampler>> ManySamplers(uint64_t count) {
  std::vector<std::shared_ptr<const Sampler>> samplers;
  for (uint64_t seed = 0; seed < count; ++seed) {
    samplers.push_back(MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", seed, 0)));
  }
  return samplers;
}

// Of many samplers exactly the true one is believed.
void ExpectOnlyTheTrueOne(uint32_t samples, const LoaderPlan& plan, size_t reads) {
  SCOPED_TRACE(::testing::Message() << samples << " samples, " << plan.workers << " workers, " << plan.ranks
                                    << " ranks, " << plan.unseen << " unseen, "
                                    << (plan.named ? "named" : "invisible"));
  constexpr uint64_t kSamplers = 500;
  const auto samplers = ManySamplers(kSamplers);
  const auto list = ListOf(samples);
  const double needed = CandidateScorer::kBelievedBits + std::log2(kSamplers);
  for (const uint64_t truth : {0U, 42U, 311U}) {
    const CandidateScorer test(list, ReadsOf(All(*samplers[truth], samples, 3), plan, reads, truth));
    for (uint64_t seed = 0; seed < kSamplers; ++seed) {
      const double bits = test.Try(*samplers[seed], 3);
      if (seed == truth) {
        EXPECT_GE(bits, needed) << "seed " << seed;
        EXPECT_LE(bits, test.BitsMax());
      } else {
        EXPECT_LT(bits, needed) << "seed " << seed << " instead of " << truth;
      }
    }
  }
}

TEST(CandidateScorerTest, TheTrueSamplerOfMany) {
  for (const uint32_t samples : {100U, 1000U, 50'000U, 1'281'167U}) {
    ExpectOnlyTheTrueOne(samples, {.workers = 1}, 24);
    ExpectOnlyTheTrueOne(samples, {.workers = 4, .batch = 16}, 48);
  }
  ExpectOnlyTheTrueOne(50'000, {.workers = 2, .ranks = 4}, 48);
  ExpectOnlyTheTrueOne(50'000, {.workers = 4, .unseen = 0.5}, 48);
  ExpectOnlyTheTrueOne(50'000, {.workers = 4, .named = false}, 48);
  ExpectOnlyTheTrueOne(1'281'167, {.workers = 16, .batch = 256}, 96);
}

// Where the first of each stream's reads was served by the page cache, the rest still tells.
TEST(CandidateScorerTest, TheFirstReadsOfEachStreamUnseen) {
  const auto samplers = ManySamplers(50);
  const IndexOrder order = All(*samplers[7], 50'000, 0);
  EpochStart epoch = ReadsOf(order, {.workers = 4}, 120, 1);
  for (EpochStream& stream : epoch.streams) stream.reads.erase(stream.reads.begin(), stream.reads.begin() + 5);
  const CandidateScorer test(ListOf(50'000), epoch);
  EXPECT_GE(test.Try(*samplers[7], 0), 60);
  EXPECT_LT(test.Try(*samplers[8], 0), 0);
}

TEST(CandidateScorerTest, ForeignReadsAmongThem) {
  const auto samplers = ManySamplers(2);
  std::mt19937_64 random(5);
  for (const uint32_t samples : {1000U, 50'000U}) {
    EpochStart epoch = ReadsOf(All(*samplers[1], samples, 0), {.workers = 4}, 120, 6);
    size_t foreign = 0;
    for (EpochStream& stream : epoch.streams) {
      for (size_t i = 3; i < stream.reads.size(); i += 10, ++foreign) {
        stream.reads[i].file = kFirstFile + static_cast<EntryNumber>(random() % samples);
      }
    }
    ASSERT_GE(foreign, 8U);
    const CandidateScorer test(ListOf(samples), epoch);
    EXPECT_GE(test.Try(*samplers[1], 0), 100) << samples;
    EXPECT_LT(test.Try(*samplers[0], 0), 0) << samples;
  }
}

TEST(CandidateScorerTest, FilesOfOtherListsAreLeftOut) {
  EpochStart epoch;
  epoch.streams.emplace_back().id = 1;
  for (const EntryNumber file : {1U, 1000U, 2U, 1001U}) epoch.streams[0].reads.push_back({.file = file});
  epoch.streams.emplace_back().id = 2;
  epoch.streams[1].reads.push_back({.file = 5});
  const CandidateScorer test(ListOf(100), epoch);
  ASSERT_EQ(test.reads().streams.size(), 1U);
  EXPECT_EQ(test.reads().streams[0].indices, (IndexOrder{0, 1}));
  EXPECT_EQ(test.reads().count, 2U);
}

TEST(CandidateScorerTest, NothingIsSaidWithoutReads) {
  const CandidateScorer test(ListOf(100), {});
  const auto samplers = ManySamplers(1);
  EXPECT_LT(test.Try(*samplers[0], 0), 0);
  EXPECT_LT(test.TryMidEpoch(*samplers[0], 0).bits, 0);
  EXPECT_LE(test.BitsExpected(), 0);
}

TEST(CandidateScorerTest, ReadsInTurnAreThoseOfAllStreamsOnce) {
  EpochStart epoch;
  for (const uint32_t id : {1U, 2U}) epoch.streams.emplace_back().id = id;
  for (const EntryNumber file : {1000U, 1001U, 1002U}) epoch.streams[0].reads.push_back({.file = file});
  for (const EntryNumber file : {1005U, 1001U}) epoch.streams[1].reads.push_back({.file = file});
  EXPECT_EQ(CandidateScorer(ListOf(100), epoch).InTurn(), (IndexOrder{0, 5, 1, 2}));
}

// A run that was resumed, or whose beginning nobody saw.
TEST(CandidateScorerTest, MidEpoch) {
  constexpr uint64_t kSamplers = 200;
  const auto samplers = ManySamplers(kSamplers);
  for (const uint32_t samples : {1000U, 20'000U}) {
    const size_t begin = samples / 3;
    for (const LoaderPlan& plan :
         {LoaderPlan{.workers = 1}, LoaderPlan{.workers = 4}, LoaderPlan{.workers = 4, .named = false}}) {
      const CandidateScorer test(ListOf(samples), ReadsOf(All(*samplers[42], samples, 0), plan, 60, 9, begin));
      const double needed = CandidateScorer::kBelievedBits + std::log2(kSamplers);
      for (uint64_t seed = 0; seed < kSamplers; ++seed) {
        const CandidateScorer::Score found = test.TryMidEpoch(*samplers[seed], 0);
        if (seed != 42) {
          EXPECT_LT(found.bits, needed) << samples << " samples, seed " << seed;
          continue;
        }
        EXPECT_GE(found.bits, needed) << samples << " samples, " << plan.workers << " workers";
        EXPECT_EQ(found.begin, begin);
      }
    }
  }
}

}  // namespace
}  // namespace augur
