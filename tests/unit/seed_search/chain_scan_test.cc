// SPDX-License-Identifier: Apache-2.0
#include "seed_search/chain_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <vector>

#include "unit/seed_search/targets.h"

namespace augur {
namespace {

constexpr uint64_t kBlock = 624;

// Outputs 0 to count - 1, by the standard library.
std::vector<uint32_t> Outputs(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<uint32_t> outputs(count);
  for (uint32_t& output : outputs) output = static_cast<uint32_t>(random());
  return outputs;
}

TEST(ChainScan, FindsEveryOutputOfItsStream) {
  for (const uint32_t seed : {0U, 42U, 0xffffffffU}) {
    const std::vector<uint32_t> outputs = Outputs(seed, 3 * kBlock);
    ForEachTarget([&] {
      for (size_t position = 0; position < outputs.size(); position += position % kBlock == 623 ? 1 : 7) {
        ChainScan scan(seed);
        std::vector<ChainHit> hits;
        scan.Find(std::vector{outputs[position]}, 3 * kBlock, nullptr, &hits);
        ASSERT_EQ(hits, (std::vector<ChainHit>{{position, outputs[position]}}));
        ASSERT_EQ(scan.position(), 3 * kBlock);
      }
    });
  }
}

TEST(ChainScan, LooksForSeveralValuesAndGoesOnWhereItLeftOff) {
  const uint32_t seed = 1234;
  const std::vector<uint32_t> outputs = Outputs(seed, 4000 * kBlock);
  // First and last of a block, the ends of the twist's parts, and the end of what is looked at.
  const std::vector<uint64_t> positions = {
      0, 226, 227, 623, 624, 100 * kBlock + 396, 2000 * kBlock + 397, 4000 * kBlock - 1};
  ForEachTarget([&] {
    for (size_t count = 1; count <= positions.size(); ++count) {
      std::vector<uint32_t> values;
      std::vector<ChainHit> expected;
      for (size_t i = 0; i < count; ++i) {
        values.push_back(outputs[positions[i]]);
        expected.push_back({positions[i], outputs[positions[i]]});
      }
      ChainScan scan(seed);
      std::vector<ChainHit> hits;
      while (scan.position() < outputs.size()) scan.Find(values, 777 * kBlock - 5, nullptr, &hits);
      hits.erase(
          std::remove_if(hits.begin(), hits.end(), [&](const ChainHit& hit) { return hit.position >= outputs.size(); }),
          hits.end());
      ASSERT_EQ(hits, expected);
    }
  });
}

// torch 2.15.0: torch.manual_seed(42); torch.nn.Linear(10, 10); then a DataLoader draws its own seed and its sampler's,
// two outputs each, of which the second is the low half: 110 outputs for the layer, so numbers 111 and 113.
TEST(ChainScan, FindsWhereTorchDrewTheSeedOfAnEpoch) {
  ChainScan scan(42);
  std::vector<ChainHit> hits;
  scan.Find(std::vector{2450038221U, 1402481934U}, 1'000'000, nullptr, &hits);
  EXPECT_EQ(hits, (std::vector<ChainHit>{{111, 1402481934U}, {113, 2450038221U}}));
}

TEST(ChainScan, FindsNothingInAnotherStream) {
  const std::vector<uint32_t> outputs = Outputs(7, 8);
  ChainScan scan(8);
  std::vector<ChainHit> hits;
  scan.Find(outputs, 1'000'000, nullptr, &hits);
  EXPECT_TRUE(hits.empty());
}

TEST(ChainScan, EndsWhenItIsToldTo) {
  ChainScan scan(42);
  const std::atomic<bool> stop = true;
  std::vector<ChainHit> hits;
  scan.Find(std::vector{1U}, uint64_t{1} << 62, &stop, &hits);
  EXPECT_EQ(scan.position(), 0U);
}

}  // namespace
}  // namespace augur
