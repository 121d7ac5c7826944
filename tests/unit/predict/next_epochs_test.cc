// SPDX-License-Identifier: Apache-2.0
#include "predict/next_epochs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "predict/try_known_samplers.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

constexpr uint32_t kSamples = 3000;

class NextEpochsTest : public testing::Test {
 protected:
  // What a search tells of an epoch that a fresh generator of this seed shuffled.
  IdentifiedOrder Searched(uint32_t seed, uint32_t offset = 0) const {
    TorchRecipe recipe = {
        .name = "torch RandomSampler", .generator = RunStream{.seed = seed, .offset = offset}, .shape = {}};
    IdentifiedOrder found = MakeIdentifiedOrder(list_, {.sampler = MakeTorchSampler(std::move(recipe))});
    found.continues = false;
    found.seed = seed;
    found.offset = offset;
    return found;
  }

  // The order that is found for an epoch of these indices, by what is expected after `before`.
  std::optional<IdentifiedOrder> FindNext(const IdentifiedOrder& before, const IndexOrder& next,
                                          const std::vector<StreamPosition>& places = {}) {
    SearchRequest request;
    request.tests.emplace_back(list_, FirstReads(FilesOf(*list_, next), {.workers = 2}, 24, random_));
    request.expected = GuessesAfter(before, places);
    return TryKnownSamplers(request, {});
  }

  // The epochs of a sampler, every `step`-th from `epoch` on, are found one after the other, and the third is
  // predicted.
  void ExpectFound(const IdentifiedOrder& first, const Sampler& truth, uint64_t epoch,
                   const std::vector<StreamPosition>& places = {}, uint64_t step = 1) {
    SCOPED_TRACE(truth.Describe());
    ASSERT_EQ(first.order->files(), FilesOf(*list_, EpochOf(truth, kSamples, epoch)));
    const IndexOrder next = EpochOf(truth, kSamples, epoch + step);
    const std::optional<IdentifiedOrder> found = FindNext(first, next, places);
    if (!found) FAIL() << "nothing is found";
    EXPECT_EQ(found->order->files(), FilesOf(*list_, next));
    EXPECT_TRUE(found->continues);
    EXPECT_GE(found->bits, CandidateScorer::kBelievedBits);
    const std::optional<Guess> after = PredictedAfter(*found);
    if (!after) FAIL() << "nothing follows";
    EXPECT_EQ(Continue(*found, *after).order->files(), FilesOf(*list_, EpochOf(truth, kSamples, epoch + 2 * step)));
  }

  std::mt19937_64 random_{1};
  std::shared_ptr<const SampleList> list_ = ListOf(kSamples);
};

TEST_F(NextEpochsTest, ASearchedSeedIsGoodForItsEpochAlone) {
  EXPECT_FALSE(PredictedAfter(Searched(5)).has_value());
  EXPECT_TRUE(GuessesAfter(IdentifiedOrder{}, {}).empty());
}

// A DistributedSampler of a seed that nobody knew.
TEST_F(NextEpochsTest, SeedPlusEpoch) {
  for (const uint32_t seed : {0U, 77'777U, 0xFFFFFFFFU - 9}) {
    const auto truth = MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", seed));
    ExpectFound(Searched(seed), *truth, 0);
    ExpectFound(Searched(seed + 4), *truth, 4);
  }
}

TEST_F(NextEpochsTest, TheSameOrderAgain) {
  const auto truth = MakeTorchSampler(FreshSeedRecipe("no set_epoch", 4711, 0));
  ExpectFound(Searched(4711), *truth, 0);
}

// A DataLoader whose RandomSampler draws from torch.manual_seed(42), wherever the script's stream is by then. Each
// position is a test of its own: all of them are minutes under the thread sanitizer.
class OwnStreamTest : public NextEpochsTest, public testing::WithParamInterface<uint64_t> {};

TEST_P(OwnStreamTest, IsFollowedWithEachStride) {
  const uint64_t position = GetParam();
  for (const uint64_t stride : {2U, 4U, 6U, 8U, 394U, 8192U}) {
    const auto truth = MakeTorchSampler(DrawnSeedRecipe("torch RandomSampler", 42, position, stride));
    std::mt19937 stream(42);
    stream.discard(position);
    const auto seed = static_cast<uint32_t>(stream());
    ExpectFound(Searched(seed), *truth, 0, {{.stream_seed = 42, .position = position}});
    // Found in a later epoch.
    stream.seed(42);
    stream.discard(position + 2 * stride);
    ExpectFound(Searched(static_cast<uint32_t>(stream())), *truth, 2,
                {{.stream_seed = 7, .position = 12}, {.stream_seed = 42, .position = position + 2 * stride}});
  }
}
INSTANTIATE_TEST_SUITE_P(Positions, OwnStreamTest, testing::Values(3U, 101U, 70'001U));

// The epochs between were not understood, and drew from the stream as well.
TEST_F(NextEpochsTest, TheStrideIsThatOfAllEpochsBetween) {
  const auto truth = MakeTorchSampler(DrawnSeedRecipe("torch RandomSampler", 42, 3, 4));
  const std::vector<StreamPosition> places = {{.stream_seed = 42, .position = 3}};
  std::mt19937 stream(42);
  stream.discard(3);
  const IdentifiedOrder first = Searched(static_cast<uint32_t>(stream()));
  for (const uint32_t epochs : {1U, 2U, 3U, 5U}) {
    SCOPED_TRACE(epochs);
    const std::vector<Guess> guesses = GuessesAfter(first, places, epochs);
    const auto guess = std::ranges::find_if(guesses, [&](const Guess& one) {
      return one.drawn && one.drawn->position + one.epoch * one.drawn->stride == 3 + 4 * uint64_t{epochs};
    });
    ASSERT_NE(guess, guesses.end());
    const Guess settled = Settled(*guess);
    for (const uint64_t more : {0U, 1U}) {
      IndexOrder indices;
      settled.sampler->Take(kSamples, settled.epoch + more, kSamples, &indices);
      EXPECT_EQ(indices, EpochOf(*truth, kSamples, epochs + more));
    }
  }
  // What cannot be shared out is one stride.
  const std::vector<Guess> guesses = GuessesAfter(first, places, 3);
  EXPECT_EQ(std::ranges::count_if(
                guesses, [](const Guess& one) { return one.drawn && one.drawn->stride == 4 && one.epoch == 1; }),
            1);
}

// One generator for the whole run, with all that others draw from it between two epochs.
TEST_F(NextEpochsTest, AGeneratorOfTheWholeRun) {
  for (const uint32_t offset : {0U, 2U}) {
    for (const bool trailing : {false, true}) {
      for (const uint64_t extra : {0U, 2U, 4U}) {
        const auto truth = MakeTorchSampler(
            {.name = "truth",
             .generator = RunStream{.seed = 99'991, .offset = offset, .trailing = trailing, .extra = extra},
             .shape = {}});
        ExpectFound(Searched(99'991, offset), *truth, 0);
      }
    }
  }
}

TEST_F(NextEpochsTest, AKnownSamplerGoesOn) {
  const std::vector<std::shared_ptr<const Sampler>> samplers = {
      MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", 3)),
      MakeTorchSampler(DrawnSeedRecipe("torch RandomSampler", 3)),
      MakeTorchSampler(SamplerGeneratorRecipe("generator", 3)),
      MakeTorchSampler(LoaderGeneratorRecipe("generator of the loader", 3)),
      MakeTorchSampler(PermutationsRecipe("permutations", 3)),
  };
  for (const auto& sampler : samplers) {
    for (const uint64_t epoch : {0U, 2U}) {
      ExpectFound(MakeIdentifiedOrder(list_, {.sampler = sampler, .epoch = epoch}), *sampler, epoch);
    }
  }
}

// Samplers whose first epochs are the same are told apart by the second.
TEST_F(NextEpochsTest, OthersThatAgreedSoFar) {
  const auto plain = MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", 8));
  const auto other = MakeTorchSampler(SamplerGeneratorRecipe("generator", 8));
  ASSERT_EQ(EpochOf(*plain, kSamples, 0), EpochOf(*other, kSamples, 0));
  IdentifiedOrder first = MakeIdentifiedOrder(list_, {.sampler = plain});
  first.others.push_back({.sampler = other});
  ExpectFound(first, *other, 0);
  ExpectFound(first, *plain, 0);
}

TEST_F(NextEpochsTest, SetEpochWasNotCalledOrSkipsOrBeginsAnew) {
  const auto sampler = MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", 8));
  const IdentifiedOrder third = MakeIdentifiedOrder(list_, {.sampler = sampler, .epoch = 3});
  struct Case {
    uint64_t next;
    uint64_t after;
  };
  for (const auto& [next, after] : {Case{3, 3}, Case{4, 5}, Case{5, 7}, Case{0, 1}}) {
    SCOPED_TRACE(next);
    const std::optional<IdentifiedOrder> found = FindNext(third, EpochOf(*sampler, kSamples, next));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->order->files(), FilesOf(*list_, EpochOf(*sampler, kSamples, next)));
    const std::optional<Guess> guess = PredictedAfter(*found);
    ASSERT_TRUE(guess.has_value());
    EXPECT_EQ(Continue(*found, *guess).order->files(), FilesOf(*list_, EpochOf(*sampler, kSamples, after)));
    // And where it does not go on so: as it was thought at first.
    const std::optional<IdentifiedOrder> back = FindNext(*found, EpochOf(*sampler, kSamples, next + 1));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->order->files(), FilesOf(*list_, EpochOf(*sampler, kSamples, next + 1)));
  }
  EXPECT_FALSE(FindNext(third, EpochOf(*sampler, kSamples, 9)).has_value());
}

// Lightning's first epoch of manual_seed(42) is also the second of a loop that draws less (measured: it was lost in
// each epoch again), and accelerate takes two permutations of what looks like a generator of one.
TEST_F(NextEpochsTest, TheLoopDrawsTwiceAsMuchAsWasThought) {
  const auto drawn = [](uint64_t position, uint64_t stride) {
    const DrawnSeed seed = {.stream_seed = 42, .position = position, .stride = stride};
    return MakeTorchSampler({.name = "torch RandomSampler", .generator = seed, .shape = {}});
  };
  ExpectFound(MakeIdentifiedOrder(list_, {.sampler = drawn(3, 2), .epoch = 1}), *drawn(5, 4), 0);
  const auto run = [](bool trailing) {
    return MakeTorchSampler(
        {.name = "generator", .generator = RunStream{.seed = 5, .offset = 2, .trailing = trailing}, .shape = {}});
  };
  ExpectFound(MakeIdentifiedOrder(list_, {.sampler = run(false)}), *run(true), 0);
}

// Also of a loop that draws its seeds, by whatever the sampler makes of them.
TEST_F(NextEpochsTest, ADrawnSamplerWithReplacementInTwos) {
  TorchRecipe recipe = {.name = "replacement",
                        .generator = DrawnSeed{.stream_seed = 42, .position = 3, .stride = 4},
                        .shape = {},
                        .draw = TorchRecipe::Draw::kReplacement};
  const auto sampler = MakeTorchSampler(std::move(recipe));
  ExpectFound(MakeIdentifiedOrder(list_, {.sampler = sampler}), *sampler, 0, {}, 2);
}

// The share of the ranks that are on this host is kept from epoch to epoch.
TEST_F(NextEpochsTest, TheShareIsKept) {
  const Guess guess = {.sampler = MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", 8)),
                       .epoch = 1,
                       .share = {.world_size = 4, .ranks = {1, 2}}};
  for (const Guess& next : GuessesAfter(MakeIdentifiedOrder(list_, guess), {})) {
    EXPECT_EQ(next.share.world_size, 4U);
    EXPECT_EQ(next.share.ranks, guess.share.ranks);
  }
  EXPECT_EQ(MakeIdentifiedOrder(list_, guess).order->size(), kSamples / 2);
}

TEST_F(NextEpochsTest, StreamSeedsBeginWithWhatTheUserSaid) {
  const std::vector<uint32_t> seeds = StreamSeeds({4711, 42});
  ASSERT_GE(seeds.size(), 10U);
  EXPECT_EQ(seeds[0], 4711U);
  EXPECT_EQ(seeds[1], 42U);
  EXPECT_EQ(std::ranges::count(seeds, 42U), 1);
}

}  // namespace
}  // namespace augur
