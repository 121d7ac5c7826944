// SPDX-License-Identifier: Apache-2.0
#include "seed_search/mt19937_scan.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <utility>
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

TEST(Mt19937Scan, FindsEveryOutputOfItsStream) {
  for (const uint32_t seed : {0U, 42U, 0xffffffffU}) {
    const std::vector<uint32_t> outputs = Outputs(seed, 3 * kBlock);
    ForEachTarget([&] {
      for (size_t position = 0; position < outputs.size(); position += position % kBlock == 623 ? 1 : 7) {
        Mt19937Scan scan(seed);
        std::vector<uint64_t> positions;
        scan.Find(outputs[position], 3 * kBlock, nullptr, &positions);
        ASSERT_EQ(positions, std::vector<uint64_t>{position});
        ASSERT_EQ(scan.position(), 3 * kBlock);
      }
    });
  }
}

TEST(Mt19937Scan, GoesOnWhereItLeftOff) {
  const uint32_t seed = 1234;
  const std::vector<uint32_t> outputs = Outputs(seed, 4000 * kBlock);
  // First and last of a block, the ends of the twist's parts, and the end of what is looked at.
  const std::vector<uint64_t> positions = {
      0, 226, 227, 623, 624, 100 * kBlock + 396, 2000 * kBlock + 397, 4000 * kBlock - 1};
  ForEachTarget([&] {
    for (const uint64_t position : positions) {
      Mt19937Scan scan(seed);
      std::vector<uint64_t> found;
      while (scan.position() < outputs.size()) scan.Find(outputs[position], 777 * kBlock - 5, nullptr, &found);
      std::erase_if(found, [&](uint64_t one) { return one >= outputs.size(); });
      ASSERT_EQ(found, std::vector<uint64_t>{position});
    }
  });
}

// torch 2.15.0: torch.manual_seed(42); torch.nn.Linear(10, 10); then a DataLoader draws its own seed and its sampler's,
// two outputs each, of which the second is the low half: 110 outputs for the layer, so numbers 111 and 113.
TEST(Mt19937Scan, FindsWhereTorchDrewTheSeedOfAnEpoch) {
  for (const auto& [position, seed] : {std::pair{111U, 1402481934U}, std::pair{113U, 2450038221U}}) {
    Mt19937Scan scan(42);
    std::vector<uint64_t> positions;
    scan.Find(seed, 1'000'000, nullptr, &positions);
    EXPECT_EQ(positions, std::vector<uint64_t>{position});
  }
}

TEST(Mt19937Scan, FindsNothingInAnotherStream) {
  for (const uint32_t output : Outputs(7, 8)) {
    Mt19937Scan scan(8);
    std::vector<uint64_t> positions;
    scan.Find(output, 1'000'000, nullptr, &positions);
    EXPECT_TRUE(positions.empty());
  }
}

TEST(Mt19937Scan, EndsWhenItIsToldTo) {
  Mt19937Scan scan(42);
  const std::atomic<bool> stop = true;
  std::vector<uint64_t> positions;
  scan.Find(1, uint64_t{1} << 62, &stop, &positions);
  EXPECT_EQ(scan.position(), 0U);
}

}  // namespace
}  // namespace augur
