// SPDX-License-Identifier: Apache-2.0
#include "base/task_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

namespace augur {
namespace {

TEST(TaskQueueTest, TasksComeInOrderAndNextOnesFirst) {
  TaskQueue<int> queue;
  queue.Add(1);
  queue.Add(2);
  queue.AddNext(0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.Take(), i);
}

TEST(TaskQueueTest, WhatWaitsIsTakenAfterTheEnd) {
  TaskQueue<int> queue;
  queue.Add(7);
  queue.Close();
  EXPECT_EQ(queue.Take(), 7);
  EXPECT_EQ(queue.Take(), std::nullopt);
  EXPECT_EQ(queue.Take(), std::nullopt);
}

// Each task is taken once, and all threads end.
TEST(TaskQueueTest, SeveralThreadsShareTheTasks) {
  constexpr int kTasks = 10'000;
  TaskQueue<int> queue;
  std::vector<std::vector<int>> taken(4);
  std::vector<std::thread> threads;
  threads.reserve(taken.size());
  for (std::vector<int>& mine : taken) {
    threads.emplace_back([&queue, &mine] {
      while (const std::optional<int> task = queue.Take()) mine.push_back(*task);
    });
  }
  for (int i = 0; i < kTasks; ++i) queue.Add(i);
  queue.Close();
  for (std::thread& thread : threads) thread.join();
  std::vector<int> all;
  for (const std::vector<int>& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::ranges::sort(all);
  std::vector<int> expected(kTasks);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace augur
