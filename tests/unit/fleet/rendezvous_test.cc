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
    const std::vector<size_t> owners = all.OwnersOf(key, 2);
    ASSERT_EQ(owners.size(), 2U);
    EXPECT_EQ(owners[0], all.OwnerOf(key));
    EXPECT_EQ(fewer.OwnerOf(key), owners[0] == 3 ? owners[1] : owners[0]);
  }
  EXPECT_EQ(all.OwnersOf(Keys(1)[0], 9).size(), 4U);
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
