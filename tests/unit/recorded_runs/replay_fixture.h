// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "recorded_runs/replay_store.h"

namespace augur {

// A folder for recorded runs in the system's temporary folder, and a store of which only the summary is needed.
class ReplayTest : public testing::Test {
 protected:
  static constexpr uint64_t kEntries = 100'000;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "augur-replay-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    parent_ = name;
    folder_ = name + "/orders/0123";
    summary_.generation = 3;
    summary_.entry_count = kEntries;
    summary_.index_id = {.low = 1, .high = 2};
  }
  void TearDown() override { std::filesystem::remove_all(parent_); }

  std::unique_ptr<ReplayStore> Open(const ReplayLimits& limits = {}) const {
    auto store = ReplayStore::Open(folder_, summary_, limits);
    EXPECT_TRUE(store.ok()) << store.status().text();
    return store.ok() ? *std::move(store) : nullptr;
  }

  // The files 1000 to 1000 + count - 1, shuffled.
  static Order Shuffled(unsigned seed, size_t count = 20'000) {
    Order order(count);
    std::iota(order.begin(), order.end(), 1000U);
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    return order;
  }

  // The order as `workers` would read it with batches of `batch`, one of them slower than the others now and then.
  static Order Interleaved(const Order& order, size_t workers, size_t batch, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<size_t> next(workers);
    for (size_t worker = 0; worker < workers; ++worker) next[worker] = worker * batch;
    Order reads;
    while (reads.size() < order.size()) {
      const size_t worker = random() % workers;
      size_t& at = next[worker];
      if (at >= order.size()) {
        if (std::all_of(next.begin(), next.end(), [&](size_t one) { return one >= order.size(); })) break;
        continue;
      }
      reads.push_back(order[at++]);
      if (at % batch == 0) at += (workers - 1) * batch;
    }
    return reads;
  }

  static std::string ReadText(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void WriteText(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  size_t FileCount() const {
    const std::filesystem::directory_iterator begin(folder_);
    return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }

  std::string parent_;
  std::string folder_;
  StoreSummary summary_;
};

}  // namespace augur
