// SPDX-License-Identifier: Apache-2.0
#include "prefetch/disk_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <random>

namespace augur {
namespace {

// A disk that is kept busy with `depth` reads, served one after the other; `cost_us` is what a read takes of the disk's
// time, known to this test only.
class BusyDisk {
 public:
  BusyDisk(DiskModel* model, int depth) : model_(model), depth_(depth) {}

  void Run(int reads, const std::function<uint64_t()>& bytes, const std::function<double(uint64_t)>& cost_us) {
    for (int i = 0; i < reads; ++i) {
      while (static_cast<int>(queue_.size()) >= depth_) EndOne();
      model_->Begin(static_cast<uint64_t>(now_us_));
      const uint64_t size = bytes();
      free_us_ = std::max(free_us_, now_us_) + cost_us(size);
      queue_.emplace(free_us_, size);
    }
    while (!queue_.empty()) EndOne();
  }
  void Idle(double us) { now_us_ += us; }

 private:
  void EndOne() {
    now_us_ = std::max(now_us_, queue_.front().first);
    model_->End(static_cast<uint64_t>(now_us_), queue_.front().second);
    queue_.pop();
  }
  DiskModel* model_;
  int depth_;
  double now_us_ = 1000;
  double free_us_ = 0;
  std::queue<std::pair<double, uint64_t>> queue_;
};

// Sizes as the planner asks for them: single files beside long chunks, by turns of some dozens.
std::function<uint64_t()> Mixed(std::mt19937_64* random) {
  return [random, left = 0, large = false]() mutable {
    if (left-- == 0) {
      left = static_cast<int>(10 + (*random)() % 50);
      large = (*random)() % 2 == 0;
    }
    return large ? (1 << 20) + (*random)() % (3 << 20) : 40'000 + (*random)() % 150'000;
  };
}

TEST(DiskModelTest, IsNotKnownAtFirst) {
  const DiskModel model;
  EXPECT_FALSE(model.known());
  EXPECT_GT(model.byte_us(), 0);
  EXPECT_LT(model.free_gap_bytes(), 100'000U) << "no gap of a file's size is read before the disk is known";
}

// Cost is additive: a disk with a seek. The two costs are found within 10 % (the larger part of them within 5 %).
TEST(DiskModelTest, FindsSeekAndBandwidth) {
  struct Case {
    double read_us, bytes_per_second;
  };
  for (const Case& disk : {Case{8000, 150e6}, Case{500, 250e6}, Case{100, 1e9}}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(testing::Message() << disk.read_us << " us, " << disk.bytes_per_second << " B/s, seed " << seed);
      std::mt19937_64 random(seed);
      DiskModel model;
      BusyDisk busy(&model, 4);
      busy.Run(4000, Mixed(&random),
               [&](uint64_t bytes) { return disk.read_us + 1e6 * static_cast<double>(bytes) / disk.bytes_per_second; });
      EXPECT_TRUE(model.known());
      EXPECT_NEAR(model.read_us() / disk.read_us, 1, 0.1);
      EXPECT_NEAR(model.bytes_per_second() / disk.bytes_per_second, 1, 0.1);
    }
  }
}

// Two limits, one on reads and one on bytes: what is predicted of more work of the same kind is right within 10 %,
// whichever of them binds.
TEST(DiskModelTest, ForetellsWorkUnderTwoLimits) {
  for (const bool large : {false, true}) {
    SCOPED_TRACE(large ? "bytes bind" : "reads bind");
    std::mt19937_64 random(1);
    DiskModel model;
    BusyDisk busy(&model, 4);
    const auto size = [&] { return large ? (2 << 20) + random() % (2 << 20) : 40'000 + random() % 150'000; };
    const auto cost = [](uint64_t bytes) { return std::max(1e6 / 150, 1e6 * static_cast<double>(bytes) / 150e6); };
    busy.Run(2000, size, cost);
    double real = 0;
    double predicted = 0;
    for (int i = 0; i < 1000; ++i) {
      const uint64_t bytes = size();
      real += cost(bytes);
      predicted += model.read_us() + model.byte_us() * static_cast<double>(bytes);
    }
    EXPECT_NEAR(predicted / real, 1, 0.1);
    if (!large) {
      EXPECT_GT(model.free_gap_bytes(), 300'000U) << "of 1,000,000 that a read is worth";
    }
  }
}

TEST(DiskModelTest, FollowsADiskThatBecomesSlower) {
  std::mt19937_64 random(1);
  DiskModel model;
  BusyDisk busy(&model, 4);
  const auto cost = [](double read_us, double bytes_per_second) {
    return [=](uint64_t bytes) { return read_us + 1e6 * static_cast<double>(bytes) / bytes_per_second; };
  };
  busy.Run(4000, Mixed(&random), cost(100, 1e9));
  // A window that is slower than expected counts for less, so that this takes longer than to find the costs at first.
  busy.Run(20'000, Mixed(&random), cost(2000, 200e6));
  EXPECT_NEAR(model.read_us() / 2000, 1, 0.15);
  EXPECT_NEAR(model.bytes_per_second() / 200e6, 1, 0.15);
}

// For three seconds another program has half of the disk. With the weight of the other windows, these would raise the
// cost by a third.
TEST(DiskModelTest, ASpellOfSlowWindowsRaisesTheCostByAFifth) {
  DiskModel model;
  BusyDisk busy(&model, 2);
  const auto size = [] { return 100'000; };
  busy.Run(4000, size, [](uint64_t) { return 1000; });
  busy.Run(1600, size, [](uint64_t) { return 2000; });
  EXPECT_NEAR(model.CostUs(1, 100'000) / 1000, 1.2, 0.07);
}

TEST(DiskModelTest, LearnsNothingWhileTheDiskHasTimeToSpare) {
  std::mt19937_64 random(1);
  DiskModel model;
  BusyDisk busy(&model, 4);
  const auto cost = [](uint64_t bytes) { return 200 + 1e6 * static_cast<double>(bytes) / 500e6; };
  busy.Run(4000, Mixed(&random), cost);
  const double read_us = model.read_us();
  const double byte_us = model.byte_us();
  // One read at a time, with pauses: nothing is under way in them.
  for (int i = 0; i < 1000; ++i) {
    busy.Run(
        1, [] { return 100'000; }, cost);
    busy.Idle(50'000);
  }
  EXPECT_EQ(model.read_us(), read_us);
  EXPECT_EQ(model.byte_us(), byte_us);
  // Reads are under way all the time, but fewer than the disk could do.
  uint64_t now = 1'000'000'000;
  model.Begin(now);
  for (int i = 0; i < 1000; ++i) {
    model.Begin(now);
    now += 10'000;
    model.Spare(now);
    model.End(now, 100'000);
  }
  EXPECT_EQ(model.read_us(), read_us);
  EXPECT_EQ(model.byte_us(), byte_us);
}

// Of each tenth of a second the limit's bytes come within its first 20 ms, seen when a busy processor has time for it,
// and then nothing: what is predicted is the limit, not the burst, after the first second.
TEST(DiskModelTest, LearnsFromPauseToPauseWhereALimitIsEnforcedInSlices) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    DiskModel model;
    constexpr uint64_t kSliceUs = 100'000;
    constexpr uint64_t kDepth = 32;
    for (uint64_t i = 0; i < kDepth; ++i) model.Begin(1000);
    double at = 1000;
    for (uint64_t slice = 0; slice < 30; ++slice) {
      at = std::max(at, static_cast<double>(1000 + slice * kSliceUs + random() % 20'000));
      for (uint64_t bytes = 0; bytes < 12'500'000;) {
        const uint64_t size = 40'000 + random() % 150'000;
        at += 1.6e-3 * static_cast<double>(size);
        model.End(static_cast<uint64_t>(at), size);
        model.Begin(static_cast<uint64_t>(at));
        bytes += size;
      }
      if (slice < 10) continue;
      EXPECT_NEAR(model.CostUs(1000, 115'000'000) / 920'000, 1, 0.15);
      EXPECT_LE(model.tried_gap_bytes(), 150'000U) << "no reads longer than those of a file were seen";
    }
  }
}

TEST(DiskModelTest, StaysWithinWhatDisksCanBe) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    DiskModel model;
    BusyDisk busy(&model, 1 + static_cast<int>(seed % 8));
    // Times that have nothing to do with the sizes.
    busy.Run(
        3000, [&] { return 1 + random() % (4 << 20); },
        [&](uint64_t) { return 1.0 + static_cast<double>(random() % 100'000); });
    EXPECT_GE(model.read_us(), 0);
    EXPECT_TRUE(std::isfinite(model.read_us()));
    EXPECT_GE(model.byte_us(), 0.00002);
    EXPECT_LE(model.byte_us(), 1);
  }
}

TEST(DiskModelTest, AReadThatWasNotBegunAfterAllLeavesNoTrace) {
  DiskModel model;
  BusyDisk busy(&model, 4);
  std::mt19937_64 random(1);
  const auto cost = [](uint64_t bytes) { return 200 + 1e6 * static_cast<double>(bytes) / 500e6; };
  busy.Run(2000, Mixed(&random), cost);
  const double read_us = model.read_us();
  model.Begin(2'000'000'000);
  model.Withdraw();
  // Were it still under way, this pause would count as time that the disk needs.
  busy.Idle(10e9);
  for (int i = 0; i < 100; ++i) {
    busy.Run(
        1, [] { return 100'000; }, cost);
    busy.Idle(1e6);
  }
  EXPECT_EQ(model.read_us(), read_us);
}

// A byte costs the machine 2 ns, whatever the disk does.
TEST(DiskModelTest, AGapThatIsFreeForTheDiskIsWorthItForTheMachineToo) {
  DiskModel model;
  EXPECT_EQ(model.worth_gap_bytes(), model.free_gap_bytes() / 2) << "before anything is known, a byte costs 1 ns";
  std::mt19937_64 random(1);
  BusyDisk disk(&model, 4);
  disk.Run(500, Mixed(&random), [](uint64_t bytes) { return 6000 + 0.0067 * static_cast<double>(bytes); });
  EXPECT_EQ(model.worth_gap_bytes(), model.free_gap_bytes()) << "where the disk takes longer, the disk decides";
}

// A line of 200 MB/s, 30 ms long, with 16 requests of 1 MB under way: the first ones come together, when their
// connections are open.
TEST(DiskModel, LearnsWhatALineBringsAndItsRoundTrip) {
  constexpr uint64_t kBytes = 1'000'000;
  constexpr uint64_t kEachUs = 5'000;
  DiskModel model = DiskModel::Far();
  std::deque<uint64_t> begun;
  uint64_t now = 1000;
  const auto begin = [&] {
    model.Begin(now);
    begun.push_back(now);
  };
  const auto end = [&] {
    model.End(now, kBytes);
    model.Took(now - begun.front());
    begun.pop_front();
  };
  for (int i = 0; i < 16; ++i) begin();
  now += 200'000;
  for (int i = 0; i < 16; ++i) end();
  for (int i = 0; i < 16; ++i) begin();
  now += 35'000;
  for (int i = 0; i < 400; ++i) {
    end();
    begin();
    now += kEachUs;
  }
  EXPECT_EQ(model.round_trip_us(), 35'000U);
  EXPECT_NEAR(model.bytes_per_second(), 200e6, 20e6);
  // What the processors do for a request meanwhile.
  EXPECT_NEAR(static_cast<double>(model.worth_gap_bytes()), 60e3, 6e3);
}

}  // namespace
}  // namespace augur
