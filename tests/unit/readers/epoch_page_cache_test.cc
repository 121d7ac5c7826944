// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "readers/epochs.h"
#include "unit/readers/epoch_player.h"
#include "unit/readers/trace_simulation.h"

// Files of which the page cache serves many, so that no READ tells of them.
namespace augur {
namespace {

TEST(EpochWatchTest, HalfOfTheFilesInThePageCache) {
  uint64_t known_starts = 0;
  for (uint64_t seed = 0; seed < 20; seed++) {
    for (const bool opens : {false, true}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (opens ? ", opens told" : ""));
      TraceSimulation trace(seed, opens);
      JobPlan plan = ShuffledPlan(1500, seed);
      plan.hits = 0.5;
      plan.opened_twice = 0.1;
      plan.epochs = 4;
      trace.AddJob(plan);
      EpochPlayer player(&trace);
      player.Play();
      const JobId job = player.LastJob();
      const auto& passes = player.Passes(job);
      ASSERT_EQ(passes.size(), 4U);
      for (const auto& [number, pass] : passes) {
        EXPECT_EQ(pass.epoch, number);
        std::map<uint32_t, Order> truth;
        Order cached;
        for (const TrueRead& read : trace.Reads()) {
          if (read.epoch != number) continue;
          (read.cached ? cached : truth[read.pid]).push_back(read.file);
        }
        const std::map<uint32_t, Order> all = StreamsOf(trace.Reads(), 0, number);
        for (const EpochStream& stream : pass.streams) {
          if (stream.id == 0) {
            EXPECT_EQ(FilesOf(stream), cached);
            EXPECT_TRUE(opens);
            continue;
          }
          EXPECT_EQ(FilesOf(stream), truth[stream.pid]);
          if (stream.starts_at_first_read) {
            EXPECT_EQ(stream.reads[0].file, all.at(stream.pid)[0]);
          }
          known_starts += stream.starts_at_first_read ? 1 : 0;
          EXPECT_FALSE(stream.starts_at_first_read && !opens);
          // What is said to have been overlooked before a read is what was.
          for (size_t i = 0; opens && i < std::min<size_t>(stream.reads.size(), 20); i++) {
            const EntryNumber file = stream.reads[i].file;
            uint32_t before = 0;
            for (const TrueRead& read : trace.Reads()) {
              if (read.epoch != number) continue;
              if (read.file == file) break;
              before += read.cached ? 1 : 0;
            }
            EXPECT_EQ(stream.reads[i].unattributed_before, before);
          }
        }
      }
    }
  }
  EXPECT_GT(known_starts, 10U);
}

TEST(EpochWatchTest, PersistentWorkersWithHalfOfTheFilesInThePageCache) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    for (const bool opens : {false, true}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (opens ? ", opens told" : ""));
      TraceSimulation trace(seed, opens);
      JobPlan plan = ShuffledPlan(3000, seed);
      plan.hits = 0.5;
      plan.persistent = true;
      plan.workers = seed % 2 == 0 ? 4 : 0;
      plan.epochs = 4;
      trace.AddJob(plan);
      EpochPlayer player(&trace);
      player.Play();
      const JobId job = player.LastJob();
      const auto& passes = player.Passes(job);
      ASSERT_EQ(passes.size(), 4U);
      for (const auto& [number, pass] : passes) {
        EXPECT_EQ(pass.epoch, number);
        uint64_t told = 0;
        for (const TrueRead& read : trace.Reads()) told += read.epoch == number && (opens || !read.cached) ? 1 : 0;
        uint64_t seen = 0;
        const std::map<uint32_t, Order> all = StreamsOf(trace.Reads(), 0, number);
        for (const EpochStream& stream : pass.streams) {
          seen += stream.read_count;
          if (stream.starts_at_first_read) {
            EXPECT_EQ(stream.reads[0].file, all.at(stream.pid)[0]);
          }
        }
        // The first reads of an epoch may be counted to the last one where it was not seen whole.
        EXPECT_NEAR(static_cast<double>(seen), static_cast<double>(told), 80);
      }
    }
  }
}

TEST(EpochWatchTest, OneReadIn64IsSeenOfProcessesThatGoOn) {
  // As when the files are pushed and only sentinels make a READ, with the opens told and without.
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, seed % 2 == 0);
    JobPlan plan = ShuffledPlan(20'000, seed);
    plan.hits = 63.0 / 64;
    plan.epochs = 4;
    trace.AddJob(plan);
    EpochPlayer player(&trace);
    player.Play();
    const JobId job = player.LastJob();
    EXPECT_EQ(player.Passes(job).size(), 4U);
  }
}

}  // namespace
}  // namespace augur
