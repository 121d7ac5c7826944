// SPDX-License-Identifier: Apache-2.0
#include "predict/host_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "predict/identified_order.h"
#include "samplers/sampler_description.h"
#include "samplers/sampler_hint.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

using ::testing::ElementsAreArray;

constexpr uint32_t kPlaces = 12'000;

uint32_t RandomPlace(std::mt19937_64& random) { return static_cast<uint32_t>(random() % kPlaces); }

// The first reads of each worker of these ranks, `reads` of them.
std::vector<PlacedReads> FirstOf(uint64_t world_size, const std::vector<uint64_t>& ranks, size_t reads,
                                 uint32_t workers = 2, uint32_t batch = 32) {
  std::vector<PlacedReads> streams;
  for (const uint64_t rank : ranks) {
    for (uint32_t worker = 0; worker < workers; ++worker) {
      PlacedReads& stream = streams.emplace_back();
      stream.stream = static_cast<uint32_t>(streams.size());
      for (uint64_t i = 0; i < reads; ++i) {
        const uint64_t sample = (i / batch * workers + worker) * batch + i % batch;
        const uint64_t place = rank + sample * world_size;
        if (place < kPlaces) stream.places.push_back(static_cast<uint32_t>(place));
      }
    }
  }
  return streams;
}

TEST(HostShareTest, TheRanksOfAHostAreFound) {
  struct Case {
    uint64_t world_size;
    std::vector<uint64_t> ranks;
  };
  for (const Case& one : {Case{2, {1}}, Case{4, {0}}, Case{8, {5}}, Case{64, {40}}, Case{512, {301}}, Case{8, {2, 3}},
                          Case{64, {16, 17, 18, 19, 20, 21, 22, 23}}, Case{6, {1, 4}}}) {
    const HostShare found = FindHostShare(FirstOf(one.world_size, one.ranks, 8), kPlaces, {});
    EXPECT_EQ(found.share.world_size, one.world_size) << found.share.Describe();
    EXPECT_THAT(found.share.ranks, ElementsAreArray(one.ranks)) << found.share.Describe();
    EXPECT_FALSE(found.open);
  }
}

// Each world size up to 4,096 is looked for, and no larger one.
TEST(HostShareTest, ARankOfFourThousand) {
  const auto first_of = [](uint32_t world_size) {
    std::vector<PlacedReads> streams(1);
    streams[0].stream = 1;
    for (uint32_t i = 0; i < 8; ++i) streams[0].places.push_back(1000 + i * world_size);
    return streams;
  };
  EXPECT_EQ(FindHostShare(first_of(4096), 1'281'167, {}).share.Describe(), "rank 1000 of 4096");
  EXPECT_NE(FindHostShare(first_of(4097), 1'281'167, {}).share.world_size, 4097U);
}

// Only the reads of workers that have read twice say anything.
TEST(HostShareTest, TooFewReadsLeaveItOpen) {
  const HostShare two = FindHostShare(FirstOf(2, {1}, 2, 1), kPlaces, {});
  EXPECT_TRUE(two.open);
  EXPECT_TRUE(FindHostShare(FirstOf(2, {1}, 1, 4), kPlaces, {}).share.IsAll());
  EXPECT_FALSE(FindHostShare(FirstOf(2, {1}, 6, 1), kPlaces, {}).open);
}

TEST(HostShareTest, AReaderOfEverythingHasNoShare) {
  for (const uint32_t workers : {1U, 2U, 4U, 16U}) {
    for (const size_t reads : {2U, 3U, 5U, 32U, 64U}) {
      const HostShare found = FindHostShare(FirstOf(1, {0}, reads, workers), kPlaces, {});
      EXPECT_TRUE(found.share.IsAll()) << workers << " workers, " << reads << " reads: " << found.share.Describe();
      EXPECT_FALSE(found.open);
    }
  }
}

// Ranks of one host that have all begun.
TEST(HostShareTest, AllRanksAreAll) {
  const HostShare found = FindHostShare(FirstOf(4, {0, 1, 2, 3}, 8), kPlaces, {});
  EXPECT_TRUE(found.share.IsAll());
  EXPECT_EQ(found.share.world_size, 4U);
}

// Reads at random places come to a share with the probability that its bits say, and less.
TEST(HostShareTest, RandomReadsHaveNoShare) {
  std::mt19937_64 random(1);
  int shares = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::vector<PlacedReads> streams(1 + random() % 4);
    for (size_t i = 0; i < streams.size(); ++i) {
      streams[i].stream = static_cast<uint32_t>(i + 1);
      for (size_t read = 0; read < 12; ++read) streams[i].places.push_back(RandomPlace(random));
    }
    const HostShare found = FindHostShare(streams, kPlaces, {});
    if (!found.share.IsAll() && found.bits >= 10) ++shares;
  }
  EXPECT_LE(shares, 20);  // 2^-10 of them
}

// A stranger's file among them, and files that the page cache served unseen.
TEST(HostShareTest, SomeReadsMayBeWrongOrUnseen) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<PlacedReads> streams = FirstOf(8, {2, 3}, 64);
    for (PlacedReads& stream : streams) {
      std::erase_if(stream.places, [&](uint32_t) { return random() % 2 == 0; });
      stream.places[random() % stream.places.size()] = RandomPlace(random);
    }
    const HostShare found = FindHostShare(streams, kPlaces, {});
    EXPECT_EQ(found.share.world_size, 8U) << trial;
    EXPECT_THAT(found.share.ranks, ElementsAreArray({2, 3})) << trial;
  }
}

// Where no process is known, one rank is.
TEST(HostShareTest, ARankWhoseProcessesAreNotKnown) {
  std::vector<PlacedReads> streams = FirstOf(4, {3}, 16, 4);
  PlacedReads all;
  for (size_t i = 0; i < 16; ++i) {
    for (const PlacedReads& stream : streams) all.places.push_back(stream.places[i]);
  }
  const HostShare found = FindHostShare(std::vector<PlacedReads>{all}, kPlaces, {});
  EXPECT_EQ(found.share.Describe(), "rank 3 of 4");
}

std::vector<PlacedReads> ReadsFrom(uint64_t begin, size_t reads) {
  std::vector<PlacedReads> streams(1);
  streams[0].stream = 1;
  for (size_t i = 0; i < reads; ++i) streams[0].places.push_back(static_cast<uint32_t>(begin + i));
  return streams;
}

// The begins of DALI's shards, of numpy.array_split's parts, and of torch's example of an IterableDataset.
TEST(HostShareTest, APieceIsGuessedByItsBegin) {
  struct Case {
    uint64_t places;
    uint64_t begin;
    const char* text;
  };
  for (const Case& one : {Case{12'000, 3000, "places 3000 to 5999"}, Case{12'000, 6000, "places 6000 to 11999"},
                          Case{12'002, 3000, "places 3000 to 6000"},  // 12,002 / 4, and 2 * 12,002 / 4
                          Case{12'002, 3001, "places 3001 to 6001"},  // 3001, 3001, 3000, 3000 of array_split
                          Case{12'001, 6002, "places 6002 to 9002"},  // 3001, 3001, 3001, 2998 of torch's example
                          Case{1'281'167, 320'291, "places 320291 to 640582"}}) {
    const HostShare found = FindHostShare(ReadsFrom(one.begin, 16), one.places, {});
    EXPECT_EQ(found.share.Describe(), one.text);
    EXPECT_TRUE(found.guessed);
    EXPECT_FALSE(found.open);
  }
}

// A run that was resumed begins anywhere.
TEST(HostShareTest, AnyOtherBeginIsOfNoPiece) {
  std::mt19937_64 random(4);
  int pieces = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    if (!FindHostShare(ReadsFrom(RandomPlace(random) / 2, 16), kPlaces, {}).share.IsAll()) ++pieces;
  }
  EXPECT_LE(pieces, 20);
  EXPECT_TRUE(FindHostShare(ReadsFrom(0, 16), kPlaces, {}).share.IsAll());
}

TEST(HostShareTest, APieceIsKeptUntilItIsLeft) {
  const RankSubset piece = RankSubset::Piece(3000, 6000);
  const HostShare again = FindHostShare(ReadsFrom(3000, 8), kPlaces, piece);
  EXPECT_EQ(again.share.Describe(), "places 3000 to 5999");
  EXPECT_FALSE(again.guessed);
  EXPECT_TRUE(FindHostShare(ReadsFrom(6000, 8), kPlaces, piece).share.IsAll());
  // It was found in its midst, and now is read from its begin.
  EXPECT_EQ(FindHostShare(ReadsFrom(2500, 8), kPlaces, piece).share.Describe(), "places 2500 to 5999");
}

TEST(HostShareTest, TheShareOfTheEpochBeforeIsKept) {
  const RankSubset before = {.world_size = 8, .ranks = {2, 3}};
  // One read tells no stride.
  EXPECT_EQ(FindHostShare(FirstOf(8, {2}, 1), kPlaces, before).share.Describe(), "ranks 2-3 of 8");
  EXPECT_EQ(FindHostShare(FirstOf(8, {2, 3, 4}, 4), kPlaces, before).share.Describe(), "ranks 2-4 of 8");
  // Of another rank alone: this is another job.
  EXPECT_EQ(FindHostShare(FirstOf(8, {6}, 8), kPlaces, before).share.Describe(), "rank 6 of 8");
  EXPECT_TRUE(FindHostShare(FirstOf(1, {0}, 16), kPlaces, before).share.IsAll());
}

// By the rule that is compared with torch's own DistributedSampler: the hint's.
TEST(HostShareTest, TheShareIsPaddedAsTorchDoes) {
  constexpr uint32_t kSamples = 1200;  // 7 * 171 + 3
  const auto list = ListOf(kSamples);
  for (uint64_t rank = 0; rank < 7; ++rank) {
    const Guess guess = {.sampler = MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", 5)),
                         .epoch = 2,
                         .share = {.world_size = 7, .ranks = {rank}}};
    const std::vector<std::string> words = {"--sampler",    "distributed", "--seed",  "5",
                                            "--world-size", "7",           "--ranks", std::to_string(rank)};
    const Result<SamplerHint> hint = ParseSamplerHint(words);
    ASSERT_TRUE(hint.ok()) << hint.status().text();
    const Result<SamplerDescription> torch = ResolveSamplerHint(*hint);
    ASSERT_TRUE(torch.ok()) << torch.status().text();
    IndexOrder indices;
    torch->Take(kSamples, 2, SIZE_MAX, &indices);
    const IdentifiedOrder made = MakeIdentifiedOrder(list, guess);
    EXPECT_EQ(made.order->files(), FilesOf(*list, indices)) << "rank " << rank;
    EXPECT_EQ(made.what, "torch DistributedSampler, seed 5 + epoch, rank " + std::to_string(rank) + " of 7");
  }
}

}  // namespace
}  // namespace augur
