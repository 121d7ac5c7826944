// SPDX-License-Identifier: Apache-2.0
#include "seed_search/seed_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "unit/seed_search/targets.h"

namespace augur {
namespace {

constexpr uint64_t kSeeds = uint64_t{1} << 32;

// What SeedQuery promises, with the standard library's generator and a division.
bool Agrees(const std::vector<uint32_t>& outputs, const SeedQuery& query, uint32_t offset) {
  const auto agrees = [&](const SeedClue& clue) {
    return clue.index >= clue.position &&
           outputs[offset + clue.position] % (query.samples - clue.position) == clue.index - clue.position;
  };
  return std::ranges::any_of(query.any_of, [&](const SeedClue& one) {
    return agrees(one) && (query.and_any_of.empty() || std::ranges::any_of(query.and_any_of, [&](const SeedClue& two) {
                             return two.position != one.position && agrees(two);
                           }));
  });
}

std::vector<SeedHit> PlainScan(const SeedQuery& query, uint64_t first, uint64_t count) {
  std::vector<SeedHit> hits;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    std::vector<uint32_t> outputs(kSeedOutputMax + 1);
    for (uint32_t& output : outputs) output = static_cast<uint32_t>(random());
    for (const uint32_t offset : query.offsets) {
      if (Agrees(outputs, query, offset)) hits.push_back({static_cast<uint32_t>(seed), offset});
    }
  }
  return hits;
}

std::vector<SeedHit> Scan(const SeedQuery& query, uint64_t first, uint64_t count) {
  std::vector<SeedHit> hits;
  const auto found = SeedScan(query).Scan(first, count, [&](uint32_t seed, uint32_t offset) {
    hits.push_back({seed, offset});
    return false;
  });
  EXPECT_FALSE(found.has_value());
  std::sort(hits.begin(), hits.end());
  return hits;
}

std::vector<SeedClue> RandomClues(std::mt19937_64& random, uint32_t samples, size_t count, uint32_t position_max) {
  std::vector<SeedClue> clues(count);
  for (SeedClue& clue : clues) {
    clue.position = static_cast<uint32_t>(random() % (std::min(position_max, samples - 1) + 1));
    clue.index = static_cast<uint32_t>(random() % samples);
  }
  return clues;
}

TEST(SeedScan, EqualsAPlainLoopForRandomQueries) {
  std::mt19937_64 random(20261121);
  constexpr uint64_t kRange = 1 << 13;
  size_t hits = 0;
  for (int round = 0; round < 40; ++round) {
    SeedQuery query;
    // Small lists have many survivors, so that differences show; large ones and the largest for the arithmetic.
    const int bits = round % 8 == 7 ? 32 : 1 + static_cast<int>(random() % 14);
    query.samples = static_cast<uint32_t>(1 + random() % ((uint64_t{1} << bits) - 1));
    query.offsets =
        random() % 2 == 0 ? std::vector<uint32_t>{0} : std::vector<uint32_t>{0, 2, 1 + uint32_t(random() % 9)};
    std::sort(query.offsets.begin(), query.offsets.end());
    query.offsets.erase(std::unique(query.offsets.begin(), query.offsets.end()), query.offsets.end());
    query.any_of = RandomClues(random, query.samples, 1 + random() % 12, kSeedOutputMax - 9);
    if (random() % 2 == 0) query.and_any_of = RandomClues(random, query.samples, 1 + random() % 12, 16);
    // Odd ends and beginnings, the last seeds among them.
    const uint64_t first = round % 5 == 0 ? kSeeds - kRange - 17 * (random() % 2) : random() % (kSeeds - kRange);
    const uint64_t count = kRange - random() % 300;
    const std::vector<SeedHit> expected = PlainScan(query, first, count);
    hits += expected.size();
    ForEachTarget([&] {
      ASSERT_EQ(Scan(query, first, count), expected)
          << SeedScanTarget() << " samples " << query.samples << " first " << first << " count " << count;
    });
  }
  EXPECT_GT(hits, 10'000U);
}

// The last block reaches over 2^32 - 1, around to seed 0, which is not of the range.
TEST(SeedScan, EndsAtTheLastSeed) {
  const SeedQuery query{.samples = 1, .any_of = {{0, 0}}};
  ForEachTarget([&] {
    EXPECT_EQ(Scan(query, kSeeds - 3, 3), (std::vector<SeedHit>{{0xfffffffdU, 0}, {0xfffffffeU, 0}, {0xffffffffU, 0}}));
    EXPECT_TRUE(Scan(query, kSeeds, 0).empty());
  });
}

// What torch.randperm(samples, generator=g)[:6] was, with torch 2.15.0 and g.manual_seed(seed), at once or, offset 2,
// after g had drawn a DataLoader's seed by torch.empty((), dtype=torch.int64).random_(generator=g).
struct Recorded {
  uint32_t seed;
  uint32_t samples;
  uint32_t offset;
  std::vector<uint32_t> indices;
};

const Recorded kRecorded[] = {
    {42, 1000, 0, {542, 618, 816, 68, 94, 215}},
    {42, 1000, 2, {876, 50, 408, 807, 800, 594}},
    {3735928559, 50000, 0, {29277, 48984, 35922, 47255, 10064, 37103}},
    {3735928559, 50000, 2, {3134, 23522, 1850, 13267, 43714, 41977}},
    {4294967295, 1281167, 0, {384762, 190895, 851908, 474338, 204689, 563037}},
    {4294967295, 1281167, 2, {845790, 470564, 199397, 559507, 1129864, 523673}},
    {0, 4096, 0, {2732, 1810, 3111, 2738, 155, 2864}},
    {0, 4096, 2, {1653, 4021, 3971, 2342, 3803, 2645}},
};

TEST(SeedScan, FindsTheSeedsOfTorch) {
  for (const Recorded& recorded : kRecorded) {
    const uint64_t first = recorded.seed < 1000 ? 0 : uint64_t{recorded.seed} - 1000;
    const uint64_t count = std::min(kSeeds - first, uint64_t{2000});
    // Each position by itself, and the first two reads that were seen where it is not known which they are.
    for (uint32_t position = 0; position < recorded.indices.size(); ++position) {
      SeedQuery query{.samples = recorded.samples, .offsets = {0, 2}};
      query.any_of = {{position, recorded.indices[position]}};
      std::vector<SeedHit> hits = Scan(query, first, count);
      EXPECT_TRUE(std::binary_search(hits.begin(), hits.end(), SeedHit{recorded.seed, recorded.offset}))
          << recorded.seed;
      query.any_of.clear();
      const uint32_t next = (position + 1) % 6;
      for (uint32_t guess = 0; guess < 17; ++guess) {
        query.any_of.push_back({guess, recorded.indices[position]});
        query.and_any_of.push_back({guess, recorded.indices[next]});
      }
      hits = Scan(query, first, count);
      EXPECT_TRUE(std::binary_search(hits.begin(), hits.end(), SeedHit{recorded.seed, recorded.offset}))
          << recorded.seed;
      EXPECT_LT(hits.size(), 20U);
    }
  }
}

TEST(SeedScan, StopsAtTheSeedThatIsAccepted) {
  const SeedQuery query{.samples = 10, .any_of = {{0, 3}}};
  int calls = 0;
  const auto found = SeedScan(query).Scan(0, 1 << 16, [&](uint32_t, uint32_t) { return ++calls == 5; });
  EXPECT_EQ(calls, 5);
  if (!found) FAIL();
  EXPECT_EQ(std::mt19937(found->seed)() % 10, 3U);
}

TEST(SeedScan, AClueThatOnlyASwapExplainsAgreesWithNothing) {
  EXPECT_TRUE(Scan({.samples = 10, .any_of = {{5, 4}}}, 0, 4096).empty());
  EXPECT_TRUE(Scan({.samples = 10, .any_of = {{0, 4}}, .and_any_of = {{5, 4}}}, 0, 4096).empty());
}

}  // namespace
}  // namespace augur
