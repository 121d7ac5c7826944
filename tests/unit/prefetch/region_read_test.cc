// SPDX-License-Identifier: Apache-2.0
#include "prefetch/region_read.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace augur {
namespace {

// What a plan of visits costs, by trying all of them: bit i of `cuts` begins a visit at use i.
double CostOf(const std::vector<RegionUse>& uses, unsigned cuts, double price) {
  double cost = 0;
  size_t begin = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    if (i == 0 || (cuts >> i & 1) != 0) {
      begin = i;
      cost += 1;
    }
    cost += price * static_cast<double>(uses[i].use - uses[begin].use) * uses[i].files;
  }
  return cost;
}

// The least cost of plans whose first visit ends with use `end` - 1, or of all plans when `end` is 0.
double LeastCost(const std::vector<RegionUse>& uses, double price, size_t end) {
  double least = std::numeric_limits<double>::infinity();
  for (unsigned cuts = 0; cuts < 1U << uses.size(); cuts += 2) {
    size_t first_end = 1;
    while (first_end < uses.size() && (cuts >> first_end & 1) == 0) ++first_end;
    if (end == 0 || first_end == end) least = std::min(least, CostOf(uses, cuts, price));
  }
  return least;
}

TEST(RegionReadTest, IsTheBeginningOfACheapestPlan) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    std::vector<RegionUse> uses;
    Position at = 1000;
    const size_t count = 1 + random() % 10;
    for (size_t i = 0; i < count; ++i) {
      uses.push_back({.use = at, .files = 0.2 + 0.01 * static_cast<double>(random() % 200)});
      at += 1 + random() % 3000;
    }
    const double price = 1e-5 * static_cast<double>(1 + random() % 100);
    const Position end = VisitEnd(uses, price);
    size_t first = uses.size();
    if (end != kNever) {
      const auto last = std::find_if(uses.begin(), uses.end(), [end](const RegionUse& use) { return use.use == end; });
      ASSERT_NE(last, uses.end());
      first = static_cast<size_t>(last - uses.begin()) + 1;
    }
    EXPECT_NEAR(LeastCost(uses, price, first), LeastCost(uses, price, 0), 1e-9);
  }
}

TEST(RegionReadTest, HoldingForNothingBringsAll) {
  const std::vector<RegionUse> uses = {{.use = 5}, {.use = 500'000}, {.use = 90'000'000}};
  EXPECT_EQ(VisitEnd(uses, 0), kNever);
}

TEST(RegionReadTest, DearHoldingBringsOneAtATime) {
  const std::vector<RegionUse> uses = {{.use = 5}, {.use = 50}, {.use = 90}};
  EXPECT_EQ(VisitEnd(uses, 1), 5U);
}

// Uses of `regions` regions that come evenly, served by visits of the length that the price leads to, take the memory
// for which the price was made.
TEST(RegionReadTest, ThePriceFillsTheMemory) {
  constexpr double kTiles = 1000;
  for (const double memory : {500.0, 2000.0, 4500.0, 20'000.0}) {
    SCOPED_TRACE(memory);
    const double price = HoldingPrice(memory, kTiles);
    std::vector<RegionUse> uses;
    for (Position i = 0; i < 400; ++i) uses.push_back({.use = i * static_cast<Position>(kTiles)});
    const Position end = VisitEnd(uses, price);
    ASSERT_NE(end, kNever);
    const double served = static_cast<double>(end) / kTiles + 1;  // by one visit
    const double held = kTiles * (served - 1) / 2;
    EXPECT_NEAR(held, memory, kTiles / 2 + memory * 0.02);
  }
}

}  // namespace
}  // namespace augur
