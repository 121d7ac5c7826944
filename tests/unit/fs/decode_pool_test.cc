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

std::unique_ptr<DecodePool> Pool(unsigned threads) {
  Result<std::unique_ptr<DecodePool>> pool = DecodePool::Start(threads);
  EXPECT_TRUE(pool.ok()) << pool.status().text();
  return std::move(pool).value();
}

TEST(DecodePool, WhatIsWaitedForGoesFirst) {
  std::unique_ptr<DecodePool> pool = Pool(1);
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

TEST(DecodePool, RunsAllThatItWasGivenBeforeItEnds) {
  std::atomic<int> runs = 0;
  std::unique_ptr<DecodePool> pool = Pool(4);
  EXPECT_EQ(pool->threads(), 4u);
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
