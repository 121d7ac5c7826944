// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "prefetch/reader_position.h"
#include "unit/datasets/shared_order.h"

namespace augur {

// A schedule of shuffled epochs and the progress through it.
class ReaderPositionTest : public testing::Test {
 protected:
  static FilePlace Place(EntryNumber file) {
    return {.shard = 0, .offset = uint64_t{file} * 1000, .record_bytes = 1000, .bytes = 1000};
  }

  static Order Shuffled(uint32_t count, uint64_t seed) {
    Order order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::mt19937_64 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    return order;
  }

  // The positions of an epoch as worker processes read them, which take batches of 32 in turn and run at speeds of
  // their own, two batches ahead at the most.
  static std::vector<Position> AsWorkersRead(size_t files, size_t workers, uint64_t seed) {
    constexpr size_t kBatch = 32;
    std::mt19937_64 random(seed);
    std::vector<size_t> next(workers, 0);  // of the reads of each worker
    const auto position = [&](size_t worker) {
      return (next[worker] / kBatch * workers + worker) * kBatch + next[worker] % kBatch;
    };
    std::vector<Position> reads;
    while (reads.size() < files) {
      size_t least = files;
      for (size_t worker = 0; worker < workers; ++worker) least = std::min(least, position(worker));
      size_t worker = random() % workers;
      while (position(worker) >= files || position(worker) >= least + 2 * workers * kBatch) {
        worker = (worker + 1) % workers;
      }
      reads.push_back(position(worker));
      ++next[worker];
    }
    return reads;
  }

  void Epochs(uint32_t files, int count) {
    for (int i = 0; i < count; ++i) {
      epochs_.push_back(Shuffled(files, 10 + static_cast<uint64_t>(i)));
      schedule_.Append(Shared(epochs_.back()));
    }
  }
  ReaderPosition::Match OnAccess(EntryNumber file) { return reader_.OnAccess(schedule_.SlotOf(file)); }
  void ReadInOrder(const Order& order, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) OnAccess(order[i]);
  }

  std::vector<Order> epochs_;
  ReadSchedule schedule_{Place};
  ReaderPositionOptions options_;
  ReaderPosition reader_{schedule_, options_};
};

}  // namespace augur
