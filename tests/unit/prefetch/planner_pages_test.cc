// SPDX-License-Identifier: Apache-2.0
// Where the page cache has room for everything, it holds the files, and the retained cache what it does not take or has
// lost.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "simulation.h"
#include "unit/datasets/shared_order.h"

namespace augur::sim {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// 3,000 files of 110 KB, for all of which the retained cache has room, and the page cache has too.
World WorldThatHoldsAll() {
  World world;
  world.file_count = 3000;
  world.limits = {.retained_bytes_max = 400 * kMiB,
                  .staging_bytes_max = 16 * kMiB,
                  .push_window_bytes_max = 32 * kMiB,
                  .reusable_bytes_max = 1024 * kMiB,
                  .data_bytes = 400 * kMiB,
                  .sentinel_every = 0};
  world.reader_us = 500;
  return world;
}

void ReclaimAll(Simulation* simulation) {
  for (const EntryNumber file : simulation->Listing()) simulation->Reclaim(file);
}

TEST(PlannerPages, WhatTheyHoldIsNotKeptAsWell) {
  Simulation simulation(WorldThatHoldsAll());
  const EpochResult first = ReadEpoch(&simulation, 1);
  EXPECT_GE(first.from_page_cache, first.files * 99 / 100);
  for (uint64_t epoch = 2; epoch <= 3; ++epoch) {
    const EpochResult result = ReadEpoch(&simulation, epoch);
    EXPECT_EQ(result.from_page_cache, result.files);
    EXPECT_EQ(result.disk_bytes, 0U);
  }
  EXPECT_EQ(simulation.retained_bytes(), 0U);
  ExpectNoViolation(&simulation);
}

TEST(PlannerPages, WithoutRoomForAllItIsKept) {
  World world = WorldThatHoldsAll();
  world.limits.reusable_bytes_max = world.limits.data_bytes - kMiB;
  Simulation simulation(world);
  for (uint64_t epoch = 1; epoch <= 2; ++epoch) simulation.planner().Append(Shared(simulation.Shuffled(epoch)));
  simulation.Read(simulation.Shuffled(1));
  EXPECT_GE(simulation.retained_bytes(), simulation.total_bytes() * 9 / 10);
  ExpectNoViolation(&simulation);
}

// All of it is gone each time: it is read from the disk once more, and then the retained cache has it.
TEST(PlannerPages, WhatIsLostThereIsKept) {
  Simulation simulation(WorldThatHoldsAll());
  for (uint64_t epoch = 1; epoch <= 4; ++epoch) simulation.planner().Append(Shared(simulation.Shuffled(epoch)));
  simulation.Read(simulation.Shuffled(1));
  ReclaimAll(&simulation);
  simulation.Read(simulation.Shuffled(2));
  EXPECT_GE(simulation.retained_bytes(), simulation.total_bytes() * 8 / 10);
  for (uint64_t epoch = 3; epoch <= 4; ++epoch) {
    ReclaimAll(&simulation);
    EXPECT_LE(simulation.Read(simulation.Shuffled(epoch)).disk_bytes, simulation.total_bytes() * 2 / 10) << epoch;
  }
  ExpectNoViolation(&simulation);
}

// What was pushed ahead of the reader is gone in the middle of an epoch: it is read ahead once more.
TEST(PlannerPages, WhatIsLostAheadOfTheReaderIsReadAheadAgain) {
  Simulation simulation(WorldThatHoldsAll());
  const Order order = simulation.Shuffled(1);
  simulation.planner().Append(Shared(order));
  simulation.Read({order.begin(), order.begin() + 500});
  simulation.Settle();
  ASSERT_GE(simulation.page_cache_bytes(), simulation.total_bytes() * 9 / 10);
  ReclaimAll(&simulation);
  const EpochResult rest = simulation.Read({order.begin() + 500, order.end()});
  EXPECT_LE(rest.demand_reads, 64U);
  EXPECT_LE(rest.disk_bytes, simulation.total_bytes());
  ExpectNoViolation(&simulation);
}

// Though nobody has looked the files up before: a stat is less than another copy.
TEST(PlannerPages, AFillGoesThere) {
  World world = WorldThatHoldsAll();
  std::set<EntryNumber> known;
  world.push_outcome = [&](EntryNumber file) {
    return known.insert(file).second ? PushOutcome::kUnknown : PushOutcome::kPushed;
  };
  Simulation simulation(world);
  simulation.planner().Fill(simulation.Listing());
  const EpochResult filled = simulation.Settle();
  EXPECT_EQ(filled.planned_files, 3000U) << "nothing twice";
  EXPECT_EQ(simulation.retained_bytes(), 0U);
  EXPECT_EQ(simulation.stats().size(), 3000U);
  for (uint64_t epoch = 1; epoch <= 2; ++epoch) {
    const EpochResult read = simulation.Read(simulation.Shuffled(epoch));
    EXPECT_EQ(read.from_page_cache, read.files);
  }
  EXPECT_GE(simulation.planner().gauges().reusable_bytes, simulation.total_bytes() * 9 / 10) << "it was read";
  ExpectNoViolation(&simulation);
}

// Read with no order known, and lost: once that is seen, a fill brings it to the retained cache.
TEST(PlannerPages, WhatAFillHasLostIsKept) {
  Simulation simulation(WorldThatHoldsAll());
  simulation.planner().Fill(simulation.Listing());
  (void)simulation.Settle();
  simulation.Read(simulation.Shuffled(1));
  ReclaimAll(&simulation);
  simulation.Read(simulation.Shuffled(2));
  (void)simulation.Settle();
  EXPECT_GE(simulation.retained_bytes(), simulation.total_bytes() * 9 / 10);
  ReclaimAll(&simulation);
  EXPECT_EQ(simulation.Read(simulation.Shuffled(3)).disk_bytes, 0U);
  ExpectNoViolation(&simulation);
}

// Some of many are the kernel's right, in each epoch again.
TEST(PlannerPages, SomeThatAreLostAreNoReasonToKeepAll) {
  Simulation simulation(WorldThatHoldsAll());
  simulation.planner().Fill(simulation.Listing());
  (void)simulation.Settle();
  for (uint64_t epoch = 1; epoch <= 4; ++epoch) {
    simulation.Read(simulation.Shuffled(epoch));
    for (EntryNumber file = 0; file < 3000; file += 100) simulation.Reclaim(file);
  }
  (void)simulation.Settle();
  EXPECT_EQ(simulation.retained_bytes(), 0U);
  ExpectNoViolation(&simulation);
}

// What the kernel does not take is kept, and not read a second time for that.
TEST(PlannerPages, WhatAFillCannotPushIsKept) {
  for (const PushOutcome outcome : {PushOutcome::kUnknown, PushOutcome::kEnded}) {
    for (const uint64_t data_bytes : {400 * kMiB, UINT64_MAX}) {
      World world = WorldThatHoldsAll();
      world.limits.data_bytes = data_bytes;
      world.push_outcome = [&](EntryNumber) { return outcome; };
      Simulation simulation(world);
      simulation.planner().Fill(simulation.Listing());
      EXPECT_EQ(simulation.Settle().planned_files, 3000U) << "nothing twice";
      for (const EntryNumber file : simulation.Listing()) EXPECT_TRUE(simulation.Retained(file)) << file;
      ExpectNoViolation(&simulation);
    }
  }
}

}  // namespace
}  // namespace augur::sim
