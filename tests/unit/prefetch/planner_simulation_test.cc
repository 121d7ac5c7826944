// SPDX-License-Identifier: Apache-2.0
// What must hold for the planner whatever the disk, the sizes, the budgets and the readers are. The simulation notes
// what must never be; here it is driven into corners.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "simulation.h"
#include "unit/datasets/shared_order.h"

namespace augur::sim {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Small enough that hundreds of epochs take a second: 1,000 files of 110 KB, a third of which fits. Files are dropped
// 64 behind the reader, that is 7 MB of the push window.
World SmallWorld(uint64_t seed) {
  World world;
  world.file_count = 1000;
  world.seed = seed;
  world.limits = {.retained_bytes_max = 12 * kMiB,
                  .staging_bytes_max = 16 * kMiB,
                  .push_window_bytes_max = 24 * kMiB,
                  .sentinel_every = 0};
  return world;
}

World SlowDisk(World world) {
  world.disk = {.reads_per_second = 150, .bytes_per_second = 150e6, .latency_us = 300};
  return world;
}

TEST(PlannerSimulationTest, HoldsItsLimitsInAnyWorld) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto any = [&](uint64_t below) { return random() % below; };
    World world = SmallWorld(seed);
    world.file_count = static_cast<uint32_t>(1 + any(1500));
    world.file_bytes_mean = 5e3 * static_cast<double>(1 + any(60));
    world.disk = {.reads_per_second = 100.0 * static_cast<double>(1 + any(300)),
                  .bytes_per_second = 50e6 * static_cast<double>(1 + any(40)),
                  .latency_us = static_cast<double>(any(2000))};
    world.limits.retained_bytes_max = any(3) == 0 ? 0 : any(60 * kMiB);
    world.limits.staging_bytes_max = 8 * kMiB + any(40 * kMiB);
    world.limits.push_window_bytes_max = any(4) == 0 ? 0 : 2 * kMiB + any(40 * kMiB);
    world.limits.sentinel_every = any(2) == 0 ? 0 : 64;
    world.limits.reads_max = static_cast<uint32_t>(1 + any(64));
    world.opens_seen = world.limits.sentinel_every == 0;
    if (!world.opens_seen) {
      world.progress.support = 1;
      world.progress.unseen_max = 128;
    }
    world.reader_us = static_cast<double>(any(3) == 0 ? 20 : any(3000));
    world.limits.reusable_bytes_max = any(2) == 0 ? 0 : any(100 * kMiB);
    Simulation simulation(world);
    for (uint64_t epoch = 0; epoch < 3; ++epoch) simulation.planner().Append(Shared(simulation.Shuffled(epoch)));
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      const EpochResult result = simulation.Read(simulation.Shuffled(epoch));
      EXPECT_EQ(result.files, world.file_count);
    }
    ExpectNoViolation(&simulation);
  }
}

TEST(PlannerSimulationTest, ReadersOfAllSortsDoNoHarm) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    World world = SmallWorld(seed);
    if (seed % 2 == 0) world = SlowDisk(world);
    Simulation simulation(world);
    simulation.planner().Append(Shared(simulation.Shuffled(0)));
    for (int step = 0; step < 12; ++step) {
      Order order = simulation.Shuffled(random() % 3);
      order.resize(1 + random() % order.size());
      switch (random() % 5) {
        case 0: simulation.planner().Append(Shared(simulation.Shuffled(random() % 3))); break;
        case 1: simulation.planner().Clear(); break;
        case 2: simulation.ReadSideBySide({order, simulation.Shuffled(random())}); break;
        case 3:
          std::rotate(order.begin(), order.begin() + static_cast<ptrdiff_t>(random() % order.size()), order.end());
          [[fallthrough]];
        default: simulation.Read(order);
      }
    }
    ExpectNoViolation(&simulation);
  }
}

TEST(PlannerSimulationTest, AReaderOutsideOfTheOrderGetsItsFiles) {
  World world = SmallWorld(1);
  world.file_count = 20'000;
  Simulation simulation(world);
  simulation.planner().Append(Shared(simulation.Shuffled(1)));
  const EpochResult alone = simulation.Read(simulation.Shuffled(2));
  EXPECT_EQ(alone.files, 20'000U);
  // What was read for the order that nobody follows is what memory holds, and what a stranger's hits move it by.
  EXPECT_LE(static_cast<double>(alone.disk_bytes), 1.15 * static_cast<double>(simulation.total_bytes()));
  ExpectNoViolation(&simulation);
}

TEST(PlannerSimulationTest, AReaderBesideAStrangerIsServed) {
  World world = SmallWorld(1);
  world.file_count = 20'000;
  world.reader_us = 300;
  Simulation simulation(world);
  simulation.planner().Append(Shared(simulation.Shuffled(1)));
  Order stranger = simulation.Shuffled(2);
  stranger.resize(10'000);
  const EpochResult both = simulation.ReadSideBySide({simulation.Shuffled(1), stranger});
  EXPECT_GE(both.from_page_cache, 18'000U) << "of 20,000 that are predicted";
  ExpectNoViolation(&simulation);
}

TEST(PlannerSimulationTest, ARestartIsFollowed) {
  World world = SmallWorld(1);
  world.file_count = 10'000;
  world.reader_us = 300;
  Simulation simulation(world);
  const Order order = simulation.Shuffled(1);
  simulation.planner().Append(Shared(order));
  simulation.Read(Order(order.begin(), order.begin() + 6000));
  const EpochResult again = simulation.Read(order);
  EXPECT_GE(again.from_page_cache, 9800U);
  ExpectNoViolation(&simulation);
}

TEST(PlannerSimulationTest, AJumpIsFollowed) {
  World world = SmallWorld(1);
  world.file_count = 10'000;
  world.reader_us = 300;
  Simulation simulation(world);
  const Order order = simulation.Shuffled(1);
  simulation.planner().Append(Shared(order));
  simulation.Read(Order(order.begin(), order.begin() + 1000));
  const EpochResult rest = simulation.Read(Order(order.begin() + 7000, order.end()));
  EXPECT_GE(rest.from_page_cache, 2800U) << "of 3,000";
  ExpectNoViolation(&simulation);
}

TEST(PlannerSimulationTest, TwoReadersSideBySideOfOneOrderShareItsReads) {
  World world = SmallWorld(1);
  world.file_count = 5000;
  world.reader_us = 300;
  Simulation simulation(world);
  const Order order = simulation.Shuffled(1);
  simulation.planner().Append(Shared(order));
  const EpochResult both = simulation.ReadSideBySide({order, order});
  EXPECT_EQ(both.files, 10'000U);
  EXPECT_GE(both.from_page_cache, 9700U);
  EXPECT_LE(static_cast<double>(both.disk_bytes), 1.2 * static_cast<double>(simulation.total_bytes()));
  ExpectNoViolation(&simulation);
}

TEST(PlannerSimulationTest, WhatCannotBeReadIsAskedForOnceInAnEpoch) {
  for (const bool slow : {false, true}) {
    World world = slow ? SlowDisk(SmallWorld(1)) : SmallWorld(1);
    world.reads_fail = [](EntryNumber file) { return file % 7 == 0; };
    Simulation simulation(world);
    for (uint64_t epoch = 0; epoch < 3; ++epoch) simulation.planner().Append(Shared(simulation.Shuffled(epoch)));
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      EXPECT_EQ(simulation.Read(simulation.Shuffled(epoch)).files, 1000U);
    }
    EXPECT_FALSE(simulation.failed().empty());
    int most = 0;
    for (const auto& [file, times] : simulation.failed()) most = std::max(most, static_cast<int>(times));
    EXPECT_GT(most, 1);
    EXPECT_LE(most, 3) << "one for each epoch";
    ExpectNoViolation(&simulation);
  }
}

TEST(PlannerSimulationTest, ReadsForWhichThereIsNoMemoryAreAskedForAgain) {
  for (const bool slow : {false, true}) {
    World world = slow ? SlowDisk(SmallWorld(1)) : SmallWorld(1);
    world.reader_us = 1000;
    world.no_memory = [](uint64_t id) { return id % 3 == 0; };
    Simulation simulation(world);
    simulation.planner().Append(Shared(simulation.Shuffled(1)));
    const EpochResult result = simulation.Read(simulation.Shuffled(1));
    EXPECT_GE(result.from_page_cache, slow ? 600U : 950U);
    ExpectNoViolation(&simulation);
  }
}

TEST(PlannerSimulationTest, AFileThatTheKernelDoesNotKnowIsStattedOnceAndPushed) {
  World world = SmallWorld(1);
  world.reader_us = 2000;
  std::set<EntryNumber> known;
  world.push_outcome = [&](EntryNumber file) {
    return known.insert(file).second ? PushOutcome::kUnknown : PushOutcome::kPushed;
  };
  Simulation simulation(world);
  simulation.planner().Append(Shared(simulation.Shuffled(1)));
  const EpochResult result = simulation.Read(simulation.Shuffled(1));
  EXPECT_GE(result.from_page_cache, 950U);
  for (const auto& [file, times] : simulation.stats()) EXPECT_EQ(times, 1) << file;
  ExpectNoViolation(&simulation);
}

TEST(PlannerSimulationTest, AFileThatStaysUnknownIsServedFromMemory) {
  for (const PushOutcome outcome : {PushOutcome::kUnknown, PushOutcome::kEnded}) {
    World world = SmallWorld(1);
    world.reader_us = 2000;
    std::unordered_map<EntryNumber, int> pushes;
    world.push_outcome = [&](EntryNumber file) {
      ++pushes[file];
      return outcome;
    };
    Simulation simulation(world);
    simulation.planner().Append(Shared(simulation.Shuffled(1)));
    const EpochResult result = simulation.Read(simulation.Shuffled(1));
    EXPECT_EQ(result.from_page_cache, 0U);
    EXPECT_GE(result.from_memory, 900U);
    for (const auto& [file, times] : pushes) EXPECT_LE(times, outcome == PushOutcome::kUnknown ? 2 : 1) << file;
    ExpectNoViolation(&simulation);
  }
}

TEST(PlannerSimulationTest, ARetainedCacheThatRefusesIsBelieved) {
  for (const bool slow : {false, true}) {
    World world = slow ? SlowDisk(SmallWorld(1)) : SmallWorld(1);
    world.retained_cache_takes_bytes = 5 * kMiB;
    Simulation simulation(world);
    for (uint64_t epoch = 0; epoch < 2; ++epoch) simulation.planner().Append(Shared(simulation.Shuffled(epoch)));
    for (uint64_t epoch = 0; epoch < 2; ++epoch) simulation.Read(simulation.Shuffled(epoch));
    EXPECT_GE(simulation.retained_bytes(), 3 * kMiB) << "what it takes is used";
    ExpectNoViolation(&simulation);
  }
}

TEST(PlannerSimulationTest, WhatFitsIsReadOnceInTheOrderOfTheDisk) {
  World world = SmallWorld(1);
  world.limits.retained_bytes_max = 200 * kMiB;
  world.limits.staging_bytes_max = 64 * kMiB;
  Simulation simulation(world);
  simulation.planner().Fill(simulation.Listing());
  const EpochResult filled = simulation.Settle();
  EXPECT_EQ(filled.planned_files, 1000U) << "nothing twice";
  EXPECT_EQ(filled.disk_bytes, simulation.total_bytes());
  // 110 MB in chunks of 4 MiB are 27; at the start they are shorter.
  EXPECT_LE(filled.disk_reads, 60U);
  uint64_t there = 0;
  for (EntryNumber file = 0; file < 1000; ++file)
    there += simulation.Retained(file) || simulation.InPageCache(file) ? 1 : 0;
  EXPECT_EQ(there, 1000U);
  const EpochResult read = simulation.Read(simulation.Shuffled(1));
  EXPECT_EQ(read.demand_reads, 0U);
  EXPECT_EQ(read.disk_bytes, 0U);
  EXPECT_EQ(simulation.ViolationText(), "");
}

// The last read, again and again, when there is nothing else to read and nothing moves.
TEST(PlannerSimulationTest, AFillGoesOnWhereMemoryWasRefused) {
  World world = SmallWorld(1);
  world.limits.retained_bytes_max = 200 * kMiB;
  uint64_t last = 0;
  world.no_memory = [&](uint64_t id) {
    last = id;
    return false;
  };
  Simulation whole(world);
  whole.planner().Fill(whole.Listing());
  (void)whole.Settle();
  bool refuse = true;
  world.no_memory = [&](uint64_t id) { return id >= last && refuse; };
  Simulation simulation(world);
  simulation.planner().Fill(simulation.Listing());
  for (int i = 0; i < 4; ++i) EXPECT_LT(simulation.Settle().planned_files, 1000U);
  refuse = false;
  (void)simulation.Settle();
  for (EntryNumber file = 0; file < 1000; ++file) {
    EXPECT_TRUE(simulation.Retained(file) || simulation.InPageCache(file)) << file;
  }
}

TEST(PlannerSimulationTest, AFillGivesWayToDemandAndToAnOrder) {
  for (const PushOutcome outcome : {PushOutcome::kPushed, PushOutcome::kUnknown, PushOutcome::kEnded}) {
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      World world = SmallWorld(seed);
      world.limits.retained_bytes_max = 200 * kMiB;
      world.push_outcome = [&](EntryNumber) { return outcome; };
      Simulation simulation(world);
      simulation.planner().Fill(simulation.Listing());
      simulation.planner().Append(Shared(simulation.Shuffled(1)));
      const EpochResult read = simulation.Read(simulation.Shuffled(1));
      const EpochResult rest = simulation.Settle();
      const EpochResult again = simulation.Read(simulation.Shuffled(2));
      if (outcome == PushOutcome::kPushed) {
        EXPECT_LE(read.disk_bytes + rest.disk_bytes, simulation.total_bytes() * 12 / 10);
        // What readers bring in pushes some of what is in the page cache only out of it.
        EXPECT_LE(again.disk_bytes, simulation.total_bytes() / 50);
      }
      ExpectNoViolation(&simulation);
    }
  }
}

TEST(PlannerSimulationTest, SentinelsAreNotPushedAndTellWhereTheReaderIs) {
  World world = SmallWorld(1);
  world.reader_us = 300;
  world.opens_seen = false;
  world.limits.sentinel_every = 64;
  world.progress.support = 1;
  world.progress.unseen_max = 128;
  world.file_count = 6400;
  world.limits.push_window_bytes_max =
      64 * kMiB;  // the front moves 64 files at a time, and files are dropped 128 behind it
  Simulation simulation(world);
  for (uint64_t epoch = 0; epoch < 2; ++epoch) simulation.planner().Append(Shared(simulation.Shuffled(epoch)));
  for (uint64_t epoch = 0; epoch < 2; ++epoch) {
    const EpochResult result = simulation.Read(simulation.Shuffled(epoch));
    EXPECT_GE(result.from_memory, 90U) << "of 100 sentinels";
    EXPECT_LE(result.from_memory, 130U);
    EXPECT_GE(result.from_page_cache, 6400U - 200);
  }
  ExpectNoViolation(&simulation);
}

TEST(PlannerSimulationTest, WithoutPushesReadersGetTheirFilesFromMemory) {
  World world = SmallWorld(1);
  world.limits.push_window_bytes_max = 0;
  world.reader_us = 300;
  Simulation simulation(world);
  simulation.planner().Append(Shared(simulation.Shuffled(1)));
  Order order = simulation.Shuffled(1);
  const EpochResult result = simulation.Read(order);
  EXPECT_GE(result.from_memory, 950U);
  EXPECT_EQ(result.from_page_cache, 0U);
  EXPECT_EQ(simulation.planner().gauges().push_window_bytes, 0U);
  ExpectNoViolation(&simulation);
}

TEST(PlannerSimulationTest, WithoutARetainedCacheThePageCacheHoldsTheWindow) {
  World world = SmallWorld(1);
  world.limits.retained_bytes_max = 0;
  world.reader_us = 300;
  Simulation simulation(world);
  simulation.planner().Append(Shared(simulation.Shuffled(1)));
  const EpochResult result = simulation.Read(simulation.Shuffled(1));
  EXPECT_GE(result.from_page_cache, 950U);
  EXPECT_EQ(simulation.retained_bytes(), 0U);
  ExpectNoViolation(&simulation);
}

}  // namespace
}  // namespace augur::sim
