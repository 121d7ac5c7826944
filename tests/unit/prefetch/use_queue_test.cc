// SPDX-License-Identifier: Apache-2.0
#include "prefetch/use_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace augur {
namespace {

TEST(UseQueueTest, KnowsTheSoonestAndTheLast) {
  UseQueue queue;
  EXPECT_TRUE(queue.empty());
  queue.Add(1, 30, 100);
  queue.Add(2, 10, 200);
  queue.Add(3, kNever, 400);
  EXPECT_EQ(queue.soonest(), std::pair(Position{10}, Slot{2}));
  EXPECT_EQ(queue.last(), std::pair(kNever, Slot{3}));
  EXPECT_EQ(queue.bytes(), 700U);
  EXPECT_EQ(queue.count(), 3U);
  queue.Move(3, 20);
  EXPECT_EQ(queue.last(), std::pair(Position{30}, Slot{1}));
  queue.Remove(1);
  queue.Remove(1);
  EXPECT_EQ(queue.last(), std::pair(Position{20}, Slot{3}));
  EXPECT_EQ(queue.bytes(), 600U);
}

TEST(UseQueueTest, LastBytesAsksOnlyAsManyAsMakeUpTheBytes) {
  UseQueue queue;
  for (Slot slot = 0; slot < 10; ++slot) queue.Add(slot, slot, 100);
  std::vector<Position> asked;
  const auto late = [&](Position use) {
    asked.push_back(use);
    return use >= 7;
  };
  EXPECT_TRUE(queue.LastBytes(250, late));
  EXPECT_EQ(asked, (std::vector<Position>{9, 8, 7}));
  EXPECT_FALSE(queue.LastBytes(301, late)) << "the fourth is not late";
  EXPECT_TRUE(queue.LastBytes(0, [](Position) { return false; }));
  EXPECT_FALSE(queue.LastBytes(1001, [](Position) { return true; })) << "there are 1,000";
}

TEST(UseQueueDeathTest, AddingTwiceIsOurBug) {
  UseQueue queue;
  queue.Add(1, 1, 1);
  EXPECT_DEATH(queue.Add(1, 2, 1), "CHECK|check");
  EXPECT_DEATH(queue.Move(2, 2), "CHECK|check");
}

TEST(UseQueueTest, AgreesWithASortedList) {
  struct Item {
    Position use;
    uint64_t bytes;
  };
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto any = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
    UseQueue queue;
    std::map<Slot, Item> model;
    for (int step = 0; step < 2000; ++step) {
      const Slot slot = any(40);
      const Position use = any(5) == 0 ? kNever : any(100);
      ASSERT_EQ(queue.Contains(slot), model.contains(slot));
      switch (any(4)) {
        case 0:
        case 1:
          if (model.contains(slot)) {
            queue.Move(slot, use);
            model[slot].use = use;
          } else {
            const uint64_t bytes = any(1000);
            queue.Add(slot, use, bytes);
            model[slot] = {use, bytes};
          }
          break;
        case 2:
          queue.Remove(slot);
          model.erase(slot);
          break;
        default:
          if (any(20) == 0) {
            const auto anew = [&](Slot one) { return Position{one * 7919 % 101}; };
            queue.MoveAll(anew);
            for (auto& [one, item] : model) item.use = anew(one);
          }
      }
      std::vector<std::tuple<Position, Slot>> sorted;
      uint64_t bytes = 0;
      for (const auto& [one, item] : model) {
        sorted.emplace_back(item.use, one);
        bytes += item.bytes;
      }
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(queue.count(), model.size());
      ASSERT_EQ(queue.bytes(), bytes);
      ASSERT_EQ(queue.empty(), model.empty());
      if (model.empty()) continue;
      ASSERT_EQ(std::tuple(queue.soonest().first, queue.soonest().second), sorted.front());
      ASSERT_EQ(std::tuple(queue.last().first, queue.last().second), sorted.back());
      ASSERT_TRUE(std::equal(
          sorted.begin(), sorted.end(), queue.in_order().begin(), queue.in_order().end(),
          [](const auto& left, const auto& right) { return left == std::tuple(right.first, right.second); }));
    }
  }
}

}  // namespace
}  // namespace augur
