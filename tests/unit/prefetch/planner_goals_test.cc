// SPDX-License-Identifier: Apache-2.0
// What the planner is to reach, in simulated time: the same on every machine, however busy it is. The figures of the
// program itself come from bench/.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "simulation.h"
#include "unit/datasets/shared_order.h"

namespace augur::sim {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// 10,000 files of 110 KB, 1.1 GB. Memory for `share` of them: five sixths in the retained cache, a sixth in the page
// cache.
World WorldThatFits(double share) {
  World world;
  const double bytes = 1.1e9 * share;
  world.limits = {.retained_bytes_max = static_cast<uint64_t>(bytes * 5 / 6),
                  .staging_bytes_max = 48 * kMiB,
                  .push_window_bytes_max = static_cast<uint64_t>(bytes / 6),
                  .sentinel_every = 0};
  return world;
}

// Three shuffled epochs that are known beforehand.
std::vector<EpochResult> ThreeEpochs(Simulation* simulation) {
  std::vector<EpochResult> results;
  for (uint64_t epoch = 0; epoch < 3; ++epoch) simulation->planner().Append(Shared(simulation->Shuffled(100 + epoch)));
  for (uint64_t epoch = 0; epoch < 3; ++epoch) results.push_back(simulation->Read(simulation->Shuffled(100 + epoch)));
  EXPECT_EQ(simulation->ViolationText(), "");
  return results;
}

// Of the second and the third of them.
double LaterBytesPerSecond(const std::vector<EpochResult>& epochs) {
  return static_cast<double>(epochs[1].delivered_bytes + epochs[2].delivered_bytes) /
         (epochs[1].seconds + epochs[2].seconds);
}

TEST(PlannerGoalsTest, SeekBoundReadsAreJoined) {
  // Seeds differ, as regions and arms meet differently; the goal is for their mean.
  constexpr uint64_t kSeeds = 5;
  double later_sum = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    World world = WorldThatFits(0.5);
    world.seed = seed;
    world.disk = {.reads_per_second = 150, .bytes_per_second = 150e6, .latency_us = 300};
    Simulation simulation(world);
    const std::vector<EpochResult> epochs = ThreeEpochs(&simulation);
    // Read one by one, 150 files a second are 0.11 of the bandwidth.
    EXPECT_GE(epochs[0].bytes_per_second(), 0.45 * 150e6);
    const double later = LaterBytesPerSecond(epochs);
    EXPECT_GE(later, 0.85 * 150e6);
    later_sum += later;
  }
  EXPECT_GE(later_sum / kSeeds, 0.93 * 150e6);
}

// Some of the next files could not be pushed at first, and those behind them have filled the page cache's room
// meanwhile, which the retained cache holds as well.
TEST(PlannerGoalsTest, WhereReadsAreDearTooWhatIsReadNextHasThePlaceOfWhatIsReadLater) {
  World world = WorldThatFits(1.5);
  world.disk = {.reads_per_second = 150, .bytes_per_second = 150e6, .latency_us = 300};
  world.limits.push_window_bytes_max = 16 * kMiB;  // some 150 files
  world.reader_us = 1000;
  world.stat_us = 1e6;
  std::set<EntryNumber> unknown;
  world.push_outcome = [&unknown](EntryNumber file) {
    return unknown.erase(file) > 0 ? PushOutcome::kUnknown : PushOutcome::kPushed;
  };
  Simulation simulation(world);
  (void)ThreeEpochs(&simulation);
  ASSERT_TRUE(simulation.planner().gauges().in_regions);
  const Order order = simulation.Shuffled(200);
  const Order late(order.begin() + 10, order.begin() + 20);
  unknown.insert(late.begin(), late.end());
  simulation.planner().Append(Shared(order));
  (void)simulation.Settle();
  EXPECT_TRUE(unknown.empty());
  for (const EntryNumber file : late) EXPECT_TRUE(simulation.InPageCache(file));
  EXPECT_EQ(simulation.ViolationText(), "");
}

// The limits of a control group, on a machine whose processors are busy with other things, and the memory that the
// program has for files of a memory= of half of the data, two thirds of the push window being lent to the retained
// cache.
World WorldInAGroup(uint64_t seed, double reads_per_second, double bytes_per_second) {
  World world = WorldThatFits(0.38);
  world.seed = seed;
  world.disk = {.reads_per_second = reads_per_second,
                .bytes_per_second = bytes_per_second,
                .latency_us = 300,
                .slice_us = 100'000};
  world.processor_taken = 0.9;
  world.limits.lent_window_bytes_max = world.limits.push_window_bytes_max / 3 * 2;
  return world;
}

TEST(PlannerGoalsTest, SeekBoundReadsAreJoinedWhereLimitsAreEnforcedInSlices) {
  constexpr uint64_t kSeeds = 5;
  double later_sum = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const World world = WorldInAGroup(seed, 150, 150e6);
    Simulation simulation(world);
    const std::vector<EpochResult> epochs = ThreeEpochs(&simulation);
    EXPECT_GE(epochs[0].bytes_per_second(), 0.45 * 150e6);
    const double later = LaterBytesPerSecond(epochs);
    EXPECT_GE(later, 0.85 * 150e6);
    later_sum += later;
    EXPECT_TRUE(simulation.planner().gauges().in_regions);
    EXPECT_LE(simulation.retained_bytes() + simulation.page_cache_bytes(),
              world.limits.retained_bytes_max + world.limits.push_window_bytes_max + kMiB);
  }
  EXPECT_GE(later_sum / kSeeds, 0.93 * 150e6);
}

// A script that turns from one view to another and back gets a new planner each time, which goes on with what the one
// before it has learned of the disk.
TEST(PlannerGoalsTest, WhatADiskCostsIsKnownToTheNextPlanner) {
  World world = WorldThatFits(0.5);
  world.disk = {.reads_per_second = 150, .bytes_per_second = 150e6, .latency_us = 300};
  const auto read_the_beginning = [](Simulation* simulation) {
    const Order epoch = simulation->Shuffled(100);
    simulation->planner().Append(Shared(epoch));
    return simulation->Read(Order(epoch.begin(), epoch.begin() + 200));
  };
  Simulation first(world);
  const EpochResult learning = read_the_beginning(&first);
  first.Read(first.Shuffled(100));
  world.disk_model = first.disk_model();
  ASSERT_TRUE(world.disk_model.known());
  Simulation second(world);
  const EpochResult knowing = read_the_beginning(&second);
  const auto files_a_second = [](const EpochResult& result) {
    return static_cast<double>(result.planned_files) / result.seconds;
  };
  EXPECT_GT(files_a_second(knowing), 1.15 * files_a_second(learning)) << "regions are read from the beginning";
  EXPECT_EQ(first.ViolationText() + second.ViolationText(), "");
}

// What a slice allows comes at once, and then nothing until it ends; and who is looked at only now and then sees that
// differently each time. None of it makes the disk seem seek-bound.
TEST(PlannerGoalsTest, SlicesAndBusyProcessorsAreNotTakenForASeekBoundDisk) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Simulation simulation(WorldInAGroup(seed, 3000, 125e6));
    for (const EpochResult& epoch : ThreeEpochs(&simulation)) {
      EXPECT_GE(epoch.bytes_per_second(), 0.95 * 125e6);
      // In regions much would be read that nobody wants.
      EXPECT_LE(static_cast<double>(epoch.disk_bytes), 1.05 * static_cast<double>(epoch.delivered_bytes));
    }
    EXPECT_FALSE(simulation.planner().gauges().in_regions);
  }
}

// A byte costs the machine more than this disk: what is read for nothing must be copied and checked all the same.
TEST(PlannerGoalsTest, FastDisksAreNotReadInTiles) {
  World world = WorldThatFits(0.5);
  world.disk = {.reads_per_second = 4000, .bytes_per_second = 3e9, .latency_us = 100};
  Simulation simulation(world);
  for (const EpochResult& epoch : ThreeEpochs(&simulation)) {
    EXPECT_LE(static_cast<double>(epoch.disk_bytes), 1.05 * static_cast<double>(epoch.delivered_bytes));
  }
  EXPECT_GT(simulation.disk_model().free_gap_bytes(), 3 * 110'000U) << "by the disk alone regions would be worth it";
  EXPECT_FALSE(simulation.planner().gauges().in_regions);
}

// A server at 30 ms and 200 MB/s, in memory for all, and for a quarter.
TEST(PlannerGoalsTest, ALineToAServerIsFilledWithWhatIsWanted) {
  for (const double part : {1.2, 0.25}) {
    SCOPED_TRACE(part);
    World world = WorldThatFits(part);
    world.disk = {.reads_per_second = 5000, .bytes_per_second = 200e6, .latency_us = 30'000};
    world.disk_model = DiskModel::Far();
    world.limits.reads_max = 64;
    world.limits.SetFar();
    Simulation simulation(world);
    for (const EpochResult& epoch : ThreeEpochs(&simulation)) {
      EXPECT_LE(static_cast<double>(epoch.disk_bytes), 1.05 * static_cast<double>(epoch.delivered_bytes));
      EXPECT_GE(epoch.bytes_per_second(), 0.85 * 200e6);
    }
    EXPECT_FALSE(simulation.planner().gauges().in_regions);
    EXPECT_EQ(simulation.ViolationText(), "");
  }
}

// Where memory takes all, a MB comes with each file that a reader waits for: it takes no longer.
TEST(PlannerGoalsTest, AFewRequestsToAServerBringAll) {
  World world = WorldThatFits(2);
  world.disk = {.reads_per_second = 5000, .bytes_per_second = 200e6, .latency_us = 30'000};
  world.disk_model = DiskModel::Far();
  world.limits.reads_max = 64;
  world.limits.SetFar();
  Simulation simulation(world);
  simulation.planner().Append(Shared(simulation.Shuffled(1)));
  const EpochResult epoch = simulation.Read(simulation.Shuffled(1));
  EXPECT_LT(static_cast<double>(epoch.disk_reads), 0.15 * static_cast<double>(epoch.files));
  EXPECT_LE(static_cast<double>(epoch.disk_bytes), 1.01 * static_cast<double>(epoch.delivered_bytes));
}

TEST(PlannerGoalsTest, BandwidthIsReachedWhereReadsAreCheap) {
  World world = WorldThatFits(0.5);
  world.disk = {.reads_per_second = 3000, .bytes_per_second = 125e6, .latency_us = 300};
  Simulation simulation(world);
  for (const EpochResult& epoch : ThreeEpochs(&simulation)) EXPECT_GE(epoch.bytes_per_second(), 0.95 * 125e6);
}

TEST(PlannerGoalsTest, AReaderAtHalfTheDisksSpeedFindsItsFilesInThePageCache) {
  for (const bool opens_seen : {true, false}) {
    SCOPED_TRACE(opens_seen ? "opens are seen" : "sentinels");
    World world = WorldThatFits(0.25);
    world.reader_us = 110;  // 1 GB/s
    if (!opens_seen) {
      world.opens_seen = false;
      world.limits.sentinel_every = 64;
      world.progress.support = 1;
      world.progress.unseen_max = 128;
    }
    Simulation simulation(world);
    for (uint64_t epoch = 0; epoch < 2; ++epoch) simulation.planner().Append(Shared(simulation.Shuffled(epoch)));
    const Order first = simulation.Shuffled(0);
    const EpochResult start = simulation.Read(Order(first.begin(), first.begin() + 200));
    const EpochResult rest = simulation.Read(Order(first.begin() + 200, first.end()));
    const EpochResult second = simulation.Read(simulation.Shuffled(1));
    for (const EpochResult& result : {rest, second}) {
      const uint64_t sentinels = opens_seen ? 0 : result.files / 64 + 1;
      EXPECT_GE(static_cast<double>(result.from_page_cache), 0.99 * static_cast<double>(result.files - sentinels));
    }
    EXPECT_LE(static_cast<double>(start.disk_bytes + rest.disk_bytes),
              1.4 * static_cast<double>(simulation.total_bytes()));
    EXPECT_LE(static_cast<double>(second.disk_bytes), 1.05 * static_cast<double>(simulation.total_bytes()));
    EXPECT_EQ(simulation.ViolationText(), "");
  }
}

TEST(PlannerGoalsTest, ListingOrderIsReadAtTheDisksSpeed) {
  World world = WorldThatFits(0.25);
  Simulation simulation(world);
  simulation.planner().Append(Shared(simulation.Listing()));
  const EpochResult result = simulation.Read(simulation.Listing());
  EXPECT_GE(result.bytes_per_second(), 0.95 * 2e9);
  EXPECT_LE(static_cast<double>(result.disk_bytes), 1.01 * static_cast<double>(simulation.total_bytes()));
  EXPECT_EQ(simulation.ViolationText(), "");
}

}  // namespace
}  // namespace augur::sim
