// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "readers/epochs.h"
#include "unit/readers/epoch_player.h"
#include "unit/readers/trace_simulation.h"

// Which processes are one job, and which of their reads are one stream.
namespace augur {
namespace {

// Reads are not told for a while: what comes after that is of a new job, in its first pass.
TEST(EpochWatchTest, WhoReadsOnAfterAllWasForgottenIsANewJob) {
  TraceSimulation trace(9, false);
  JobPlan plan = ShuffledPlan(400, 9);
  plan.persistent = true;
  trace.AddJob(plan);
  const std::vector<Access> accesses = trace.Accesses();
  ProcessTable table(&trace.processes());
  EpochWatch watch(&table);
  const auto see = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      trace.processes().SetNow(accesses[i].time_us);
      (void)watch.OnAccess(accesses[i]);
    }
  };
  see(0, 600);
  ASSERT_EQ(watch.Jobs().size(), 1U);
  const JobId before = watch.Jobs()[0];
  watch.ForgetAll();
  EXPECT_TRUE(watch.Jobs().empty());
  EXPECT_TRUE(watch.TakeEvents().empty());
  see(700, 800);
  ASSERT_EQ(watch.Jobs().size(), 1U);
  const JobId after = watch.Jobs()[0];
  EXPECT_GT(after, before);
  const std::optional<EpochStart> running = watch.Running(after);
  ASSERT_TRUE(running);
  const EpochStart epoch = running.value_or(EpochStart());
  EXPECT_EQ(epoch.pass, 0U);
  EXPECT_EQ(epoch.files, 100U);
}

TEST(EpochWatchTest, RanksAreOneJobAndOneEpoch) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (const uint32_t workers : {0U, 2U}) {
      for (const bool persistent : {false, true}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(workers));
        TraceSimulation trace(seed, true);
        JobPlan plan = ShuffledPlan(1600, seed);  // divides by the ranks: no padding
        plan.ranks = seed % 2 == 0 ? 2 : 4;
        plan.workers = workers;
        plan.persistent = persistent;
        trace.AddJob(plan);
        EpochPlayer player(&trace);
        player.Play();
        ASSERT_EQ(player.jobs().size(), 1U);
        const auto& passes = player.Passes(*player.jobs().begin());
        ASSERT_EQ(passes.size(), 3U);
        for (const auto& [number, pass] : passes) {
          EXPECT_EQ(pass.epoch, number);
          ExpectEpoch(pass, StreamsOf(trace.Reads(), 0, number));
          EXPECT_EQ(pass.streams.size(), plan.ranks * std::max(workers, 1U));
          for (size_t i = 0; i < pass.streams.size(); i++) {
            EXPECT_EQ(pass.streams[i].launch.rank, i / std::max(workers, 1U));
            EXPECT_EQ(pass.streams[i].launch.world_size, plan.ranks);
          }
        }
      }
    }
  }
}

TEST(EpochWatchTest, ThreadsOfOneProcessAreOneStream) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, seed % 2 == 0);
    JobPlan plan = ShuffledPlan(1500, seed);
    plan.workers = 0;
    plan.threads = 16;
    trace.AddJob(plan);
    EpochPlayer player(&trace);
    player.Play();
    ASSERT_EQ(player.jobs().size(), 1U);
    const auto& passes = player.Passes(*player.jobs().begin());
    ASSERT_EQ(passes.size(), 3U);
    for (const auto& [number, pass] : passes) {
      ASSERT_EQ(pass.streams.size(), 1U);
      ExpectEpoch(pass, StreamsOf(trace.Reads(), 0, number));
    }
  }
}

TEST(EpochWatchTest, InvisibleReadersAreOneStreamWithEpochs) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, seed % 2 == 0);
    JobPlan plan = ShuffledPlan(2000, seed);
    plan.visible = false;
    plan.epochs = 4;
    trace.AddJob(plan);
    EpochPlayer player(&trace);
    player.Play();
    EXPECT_EQ(player.jobs(), std::set<JobId>{0});
    const auto& passes = player.Passes(0);
    ASSERT_EQ(passes.size(), 4U);
    for (const auto& [number, pass] : passes) {
      ASSERT_EQ(pass.streams.size(), 1U);
      Order truth;
      for (const TrueRead& read : trace.Reads()) {
        if (read.epoch == number) truth.push_back(read.file);
      }
      EXPECT_EQ(FilesOf(pass.streams[0]), truth);
      EXPECT_EQ(pass.epoch, number);
      EXPECT_FALSE(pass.streams[0].starts_at_first_read);
    }
  }
}

TEST(EpochWatchTest, FourJobsAndAStrangerAreKeptApart) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, true);
    for (uint32_t i = 0; i < 4; i++) {
      JobPlan plan = ShuffledPlan(1000, seed * 10 + i);
      plan.workers = i;
      plan.persistent = i == 2;
      plan.hits = 0;
      plan.start_us = 1'000'000 + i * 300'000;
      trace.AddJob(plan);
    }
    trace.AddStranger(ShuffledFiles(0, 3000, 9), 1'200'000, 500);
    EpochPlayer player(&trace);
    player.Play();
    // Which job is which is known by its script.
    std::map<uint32_t, uint32_t> truth;  // pid: job
    for (const TrueRead& read : trace.Reads()) truth[read.pid] = read.job;
    std::set<uint32_t> found;
    for (const JobId job : player.jobs()) {
      ASSERT_NE(job, 0U) << "all reads are misses";
      const auto& passes = player.Passes(job);
      const uint32_t number = truth[passes.at(0).streams[0].pid];
      found.insert(number);
      EXPECT_EQ(passes.size(), number == 4 ? 1U : 3U);
      for (const auto& [pass_number, pass] : passes) {
        ExpectEpoch(pass, StreamsOf(trace.Reads(), number, pass_number));
      }
    }
    EXPECT_EQ(found.size(), 5U);
    EXPECT_EQ(player.ended(), player.jobs());
  }
}

TEST(EpochWatchTest, AScriptThatIsStartedAgainIsANewJob) {
  TraceSimulation trace(1, true);
  for (uint64_t run = 0; run < 3; run++) {
    JobPlan plan = ShuffledPlan(500, 1);
    plan.epochs = 1;
    plan.start_us = 1'000'000 + run * 10'000'000;
    trace.AddJob(plan);
  }
  EpochPlayer player(&trace);
  player.Play();
  EXPECT_EQ(player.jobs().size(), 3U);
  for (const JobId job : player.jobs()) EXPECT_EQ(player.Passes(job).size(), 1U);
}

}  // namespace
}  // namespace augur
