// SPDX-License-Identifier: Apache-2.0
#include "policy_belady.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <vector>

namespace augur {
namespace {

using ::testing::ElementsAre;
using Key = BeladyPolicy::Key;

TEST(BeladyPolicyTest, EvictsWhatIsNeededLatest) {
  BeladyPolicy policy(3);
  std::vector<Key> evicted;
  EXPECT_TRUE(policy.Offer(1, 1, 10, &evicted));
  EXPECT_TRUE(policy.Offer(2, 1, 30, &evicted));
  EXPECT_TRUE(policy.Offer(3, 1, 20, &evicted));
  EXPECT_TRUE(evicted.empty());
  EXPECT_FALSE(policy.Wants(4, 1, 30));
  EXPECT_FALSE(policy.Offer(4, 1, 40, &evicted));
  EXPECT_TRUE(evicted.empty());
  EXPECT_TRUE(policy.Offer(5, 1, 15, &evicted));
  EXPECT_THAT(evicted, ElementsAre(2));
  EXPECT_FALSE(policy.Contains(2));
  EXPECT_EQ(policy.bytes(), 3U);
}

TEST(BeladyPolicyTest, ARecordThatWasReadGoesFirst) {
  BeladyPolicy policy(2);
  std::vector<Key> evicted;
  policy.Offer(1, 1, 10, &evicted);
  policy.Offer(2, 1, 20, &evicted);
  policy.SetNextUse(1, BeladyPolicy::kNever);
  EXPECT_TRUE(policy.Offer(3, 1, 1000, &evicted));
  EXPECT_THAT(evicted, ElementsAre(1));
  policy.SetNextUse(99, 5);
  EXPECT_FALSE(policy.Contains(99));
}

TEST(BeladyPolicyTest, ALargeRecordEvictsAllThatItNeedsOrNothing) {
  BeladyPolicy policy(10);
  std::vector<Key> evicted;
  for (Key key = 1; key <= 5; ++key) policy.Offer(key, 2, key * 10, &evicted);
  EXPECT_FALSE(policy.Offer(6, 7, 25, &evicted));  // needs four of them, and only three are needed later
  EXPECT_FALSE(policy.Offer(7, 11, 1, &evicted));
  EXPECT_TRUE(evicted.empty());
  EXPECT_EQ(policy.count(), 5U);
  EXPECT_TRUE(policy.Offer(8, 5, 25, &evicted));
  EXPECT_THAT(evicted, ElementsAre(5, 4, 3));
  EXPECT_EQ(policy.bytes(), 9U);
}

TEST(BeladyPolicyTest, ResizeEvictsTheLatest) {
  BeladyPolicy policy(10);
  std::vector<Key> evicted;
  for (Key key = 1; key <= 5; ++key) policy.Offer(key, 2, key, &evicted);
  policy.Resize(5, &evicted);
  EXPECT_THAT(evicted, ElementsAre(5, 4, 3));
  EXPECT_EQ(policy.bytes_max(), 5U);
  policy.Remove(1);
  EXPECT_TRUE(policy.Offer(9, 3, 9, &evicted));
}

// Hits of the best of all possible choices: every way to keep, evict or not admit is tried.
size_t BestHits(const std::vector<Key>& order, size_t at, std::set<Key> kept, size_t room) {
  if (at == order.size()) return 0;
  if (kept.contains(order[at])) return 1 + BestHits(order, at + 1, kept, room);
  size_t best = BestHits(order, at + 1, kept, room);
  if (kept.size() < room) {
    kept.insert(order[at]);
    return std::max(best, BestHits(order, at + 1, kept, room));
  }
  for (const Key victim : std::set<Key>(kept)) {
    std::set<Key> other = kept;
    other.erase(victim);
    other.insert(order[at]);
    best = std::max(best, BestHits(order, at + 1, other, room));
  }
  return best;
}

size_t PolicyHits(const std::vector<Key>& order, uint64_t room) {
  const auto next_use = [&](size_t at) -> BeladyPolicy::Use {
    const auto next = std::find(order.begin() + static_cast<ptrdiff_t>(at) + 1, order.end(), order[at]);
    return next == order.end() ? BeladyPolicy::kNever : static_cast<BeladyPolicy::Use>(next - order.begin());
  };
  BeladyPolicy policy(room);
  std::vector<Key> evicted;
  size_t hits = 0;
  for (size_t at = 0; at < order.size(); ++at) {
    hits += policy.Contains(order[at]) ? 1 : 0;
    policy.Offer(order[at], 1, next_use(at), &evicted);
  }
  return hits;
}

TEST(BeladyPolicyTest, NoChoiceHasMoreHits) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    std::vector<Key> order(11);
    for (Key& key : order) key = random() % 6;
    const size_t room = 1 + random() % 3;
    EXPECT_EQ(PolicyHits(order, room), BestHits(order, 0, {}, room)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace augur
