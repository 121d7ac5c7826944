// SPDX-License-Identifier: Apache-2.0
#include "fs/decode_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

namespace augur {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<DecodePool> Pool(unsigned ahead, unsigned demand) {
  Result<std::unique_ptr<DecodePool>> pool = DecodePool::Start(ahead, demand);
  EXPECT_TRUE(pool.ok()) << pool.status().text();
  return std::move(pool).value();
}

TEST(DecodePool, WhatIsWaitedForGoesFirst) {
  std::unique_ptr<DecodePool> pool = Pool(1, 0);
  std::promise<void> begin;
  std::vector<int> order;  // by the one thread of the pool
  pool->Run(DecodePool::Urgency::kAhead, [&] { begin.get_future().wait(); });
  for (const int number : {1, 2}) pool->Run(DecodePool::Urgency::kAhead, [&order, number] { order.push_back(number); });
  for (const int number : {3, 4})
    pool->Run(DecodePool::Urgency::kDemand, [&order, number] { order.push_back(number); });
  begin.set_value();
  pool.reset();
  EXPECT_THAT(order, ElementsAre(3, 4, 1, 2));
}

TEST(DecodePool, WhatIsWaitedForNeverWaitsForTheOthers) {
  std::unique_ptr<DecodePool> pool = Pool(1, 1);
  std::promise<void> demanded;
  // Both wait until what is waited for has run: it runs although every other thread is taken, and nothing else may run
  // on the one that is left.
  std::atomic<bool> second_began = false;
  pool->Run(DecodePool::Urgency::kAhead, [&, done = demanded.get_future().share()] { done.wait(); });
  pool->Run(DecodePool::Urgency::kAhead, [&] { second_began = true; });
  pool->Run(DecodePool::Urgency::kDemand, [&] {
    EXPECT_FALSE(second_began);
    demanded.set_value();
  });
  pool.reset();
  EXPECT_TRUE(second_began);
}

TEST(DecodePool, RunsAllThatItWasGivenBeforeItEnds) {
  std::atomic<int> runs = 0;
  std::unique_ptr<DecodePool> pool = Pool(2, 2);
  EXPECT_EQ(pool->ahead(), 2u);
  for (int i = 0; i < 1000; ++i) {
    pool->Run(i % 2 == 0 ? DecodePool::Urgency::kDemand : DecodePool::Urgency::kAhead, [&runs] { ++runs; });
  }
  // What runs may ask for more, until the end.
  DecodePool& same = *pool;
  pool->Run(DecodePool::Urgency::kAhead, [&] { same.Run(DecodePool::Urgency::kDemand, [&runs] { ++runs; }); });
  pool.reset();
  EXPECT_EQ(runs, 1001);
}

}  // namespace
}  // namespace augur
