// SPDX-License-Identifier: Apache-2.0
// What was read stays in the page cache where the machine has room for it beside the window.
#include <gtest/gtest.h>

#include <cstdint>

#include "simulation.h"
#include "unit/datasets/shared_order.h"

namespace augur::sim {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kAll = 1 << 30;

// 3,000 files of 110 KB, for a tenth of which the window has room.
World WorldWithRoom(uint64_t reusable_bytes_max) {
  World world;
  world.file_count = 3000;
  world.limits = {.retained_bytes_max = 40 * kMiB,
                  .staging_bytes_max = 16 * kMiB,
                  .push_window_bytes_max = 32 * kMiB,
                  .reusable_bytes_max = reusable_bytes_max,
                  .sentinel_every = 0};
  world.reader_us = 500;
  return world;
}

TEST(PlannerReuse, AllThatFitsIsReadFromTheDiskOnce) {
  Simulation simulation(WorldWithRoom(kAll));
  ReadEpoch(&simulation, 1);
  simulation.Settle();
  for (uint64_t epoch = 2; epoch <= 4; ++epoch) {
    const EpochResult result = ReadEpoch(&simulation, epoch);
    EXPECT_EQ(result.from_page_cache, result.files);
    EXPECT_EQ(result.disk_bytes, 0U);
  }
  EXPECT_GT(simulation.planner().gauges().reusable_bytes, simulation.total_bytes() * 9 / 10);
  ExpectNoViolation(&simulation);
}

// Read by hand before any order is known, as in the first epoch of a run.
TEST(PlannerReuse, AlsoWhatWasReadInNoKnownOrder) {
  Simulation simulation(WorldWithRoom(kAll));
  simulation.planner().Append(Shared(simulation.Shuffled(1)));
  simulation.planner().Clear();
  simulation.Read(simulation.Shuffled(2));
  simulation.Settle();
  const EpochResult result = ReadEpoch(&simulation, 3);
  EXPECT_EQ(result.from_page_cache, result.files);
  EXPECT_EQ(result.disk_bytes, 0U);
  ExpectNoViolation(&simulation);
}

TEST(PlannerReuse, AsMuchStaysAsThereIsRoomFor) {
  const World world = WorldWithRoom(150 * kMiB);
  Simulation simulation(world);
  ReadEpoch(&simulation, 1);
  const EpochResult result = ReadEpoch(&simulation, 2);
  EXPECT_GE(result.from_page_cache, result.files * 98 / 100) << "the rest is pushed in time";
  EXPECT_LE(result.disk_bytes, simulation.total_bytes() - 130 * kMiB) << "what has stayed is not read again";
  // Others need the memory: what is over is dropped, and that is all.
  simulation.planner().SetReusableMax(0, false);
  simulation.Settle();
  EXPECT_EQ(simulation.planner().gauges().reusable_bytes, 0U);
  EXPECT_LE(simulation.page_cache_bytes(), world.limits.push_window_bytes_max);
  EXPECT_GE(ReadEpoch(&simulation, 3).from_page_cache, result.files * 98 / 100);
  ExpectNoViolation(&simulation);
}

// A machine that gives idle memory back to its host takes all of it between two epochs: what is believed to be there is
// not. That costs some reads and no epoch.
TEST(PlannerReuse, WhereTheKernelTakesItBackItIsPutThereInTime) {
  Simulation simulation(WorldWithRoom(kAll));
  const auto take_all = [&simulation] {
    for (const EntryNumber file : simulation.Listing()) simulation.Reclaim(file);
  };
  ReadEpoch(&simulation, 1);
  take_all();
  const EpochResult second = ReadEpoch(&simulation, 2);
  EXPECT_GE(second.from_page_cache, second.files * 85 / 100);
  take_all();
  const EpochResult third = ReadEpoch(&simulation, 3);
  EXPECT_GE(third.from_page_cache, third.files * 90 / 100) << "nothing is left for some epochs";
  EXPECT_LE(simulation.planner().gauges().reusable_bytes, simulation.total_bytes() / 100);
  ExpectNoViolation(&simulation);
}

// Somebody drops the whole page cache by hand, as people do between two measurements. That is no sign that memory is
// short: the epoch after the next one is in memory again.
TEST(PlannerReuse, WhatWasDroppedByHandIsLeftAgain) {
  Simulation simulation(WorldWithRoom(kAll));
  ReadEpoch(&simulation, 1);
  for (const EntryNumber file : simulation.Listing()) simulation.Reclaim(file);
  simulation.planner().SetReusableMax(kAll, true);
  ReadEpoch(&simulation, 2);
  const EpochResult third = ReadEpoch(&simulation, 3);
  EXPECT_EQ(third.from_page_cache, third.files);
  EXPECT_GT(simulation.planner().gauges().reusable_bytes, simulation.total_bytes() * 9 / 10);
  ExpectNoViolation(&simulation);
}

// Where no opens are seen, a sentinel of the coming epoch must not be found in the page cache: its READ tells where the
// reader is.
TEST(PlannerReuse, SentinelsOfTheNextEpochAreNotLeft) {
  World world = WorldWithRoom(kAll);
  world.limits.sentinel_every = 64;
  world.limits.push_window_bytes_max = 16 * kMiB;
  world.opens_seen = false;
  world.progress.support = 1;
  world.progress.unseen_max = 128;
  Simulation simulation(world);
  for (uint64_t epoch = 1; epoch <= 2; ++epoch) simulation.planner().Append(Shared(simulation.Shuffled(epoch)));
  simulation.Read(simulation.Shuffled(1));
  simulation.Settle();
  const EpochResult second = simulation.Read(simulation.Shuffled(2));
  const uint64_t missed = second.files - second.from_page_cache;
  EXPECT_GE(missed, second.files / 64 / 2);
  EXPECT_LE(missed, second.files / 64 * 2);
  ExpectNoViolation(&simulation);
}

}  // namespace
}  // namespace augur::sim
