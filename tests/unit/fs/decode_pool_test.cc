// SPDX-License-Identifier: Apache-2.0
#include "fs/decode_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
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

// The thread for predicted work is taken all the time. What was hurried runs on the other one, and leaves nothing of it
// in the queue.
TEST(DecodePool, HurriedWorkGoesBehindWhatReadersWaitFor) {
  std::unique_ptr<DecodePool> pool = Pool(1, 1);
  std::promise<void> begin;
  std::promise<void> end;
  std::vector<int> order;  // by the thread for readers, until `end`
  const std::array<int, 5> images{};
  auto memory = std::make_shared<int>();
  const std::weak_ptr<int> held = memory;
  std::promise<void> taken;
  pool->Run(DecodePool::Urgency::kAhead, [&, done = end.get_future().share()] {
    taken.set_value();
    done.wait();
  });
  taken.get_future().wait();
  pool->Run(DecodePool::Urgency::kDemand, [begun = begin.get_future().share()] { begun.wait(); });
  pool->Run(
      DecodePool::Urgency::kAhead, [&] { order.push_back(1); }, &images[1]);
  pool->Run(
      DecodePool::Urgency::kAhead, [&order, memory] { order.push_back(2); }, &images[2]);
  memory.reset();
  pool->Run(
      DecodePool::Urgency::kDemand, [&] { order.push_back(3); }, &images[3]);
  pool->Hurry(&images[2]);
  pool->Hurry(&images[2]);  // is hurried already
  pool->Hurry(&images[4]);  // is not there
  std::promise<void> last;
  pool->Run(DecodePool::Urgency::kDemand, [&] { last.set_value(); });
  begin.set_value();
  last.get_future().wait();
  EXPECT_THAT(order, ElementsAre(3, 2));
  EXPECT_TRUE(held.expired());
  end.set_value();
  pool.reset();
  EXPECT_THAT(order, ElementsAre(3, 2, 1));
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
