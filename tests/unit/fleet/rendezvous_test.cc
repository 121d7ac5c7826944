// SPDX-License-Identifier: Apache-2.0
#include "fleet/rendezvous.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace augur {
namespace {

std::vector<Hash128> Keys(size_t count) {
  std::mt19937_64 random(7);
  std::vector<Hash128> keys(count);
  for (Hash128& key : keys) key = {.low = random(), .high = random()};
  return keys;
}

Rendezvous Of(const std::vector<std::string>& names) {
  Rendezvous places;
  for (const std::string& name : names) places.Add(name);
  return places;
}

TEST(Rendezvous, TheOrderOfTheListDoesNotMatter) {
  const std::vector<std::string> names = {"a:1", "b:1", "c:1", "d:1"};
  std::vector<std::string> others = names;
  std::ranges::reverse(others);
  const Rendezvous one = Of(names);
  const Rendezvous two = Of(others);
  for (const Hash128& key : Keys(1000)) EXPECT_EQ(names[one.OwnerOf(key)], others[two.OwnerOf(key)]);
}

TEST(Rendezvous, AMemberThatLeavesMovesItsOwnKeysOnly) {
  const std::vector<std::string> names = {"a:1", "b:1", "c:1", "d:1"};
  const Rendezvous all = Of(names);
  const Rendezvous fewer = Of({"a:1", "b:1", "c:1"});
  for (const Hash128& key : Keys(1000)) {
    std::vector<size_t> by_rank(names.size(), names.size());
    for (size_t member = 0; member < names.size(); ++member) by_rank.at(all.RankOf(key, member)) = member;
    ASSERT_EQ(std::ranges::count(by_rank, names.size()), 0) << "two have one rank";
    EXPECT_EQ(by_rank[0], all.OwnerOf(key));
    EXPECT_EQ(fewer.OwnerOf(key), by_rank[0] == 3 ? by_rank[1] : by_rank[0]);
  }
}

// Two that have the same weight for every key.
TEST(Rendezvous, RanksOfEqualsDiffer) {
  const Rendezvous places = Of({"a:1", "a:1"});
  for (const Hash128& key : Keys(10)) {
    EXPECT_EQ(places.RankOf(key, 0), 0U);
    EXPECT_EQ(places.RankOf(key, 1), 1U);
  }
}

// A binomial distribution: each share within five standard deviations, which is left once in two million.
TEST(Rendezvous, SharesAreEqual) {
  constexpr size_t kKeys = 16'000;
  constexpr size_t kMembers = 8;
  std::vector<std::string> names;
  for (size_t i = 0; i < kMembers; ++i) names.push_back("10.0.0." + std::to_string(i + 1) + ":11211");
  const Rendezvous places = Of(names);
  std::vector<size_t> shares(kMembers);
  for (const Hash128& key : Keys(kKeys)) ++shares[places.OwnerOf(key)];
  const double mean = static_cast<double>(kKeys) / kMembers;
  const double deviation = std::sqrt(mean * (1 - 1.0 / kMembers));
  for (const size_t share : shares) EXPECT_NEAR(static_cast<double>(share), mean, 5 * deviation);
}

}  // namespace
}  // namespace augur
