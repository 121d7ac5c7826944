// SPDX-License-Identifier: Apache-2.0
#include "readers/epochs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "unit/readers/epoch_player.h"
#include "unit/readers/trace_simulation.h"

namespace augur {
namespace {

TEST(EpochWatchTest, NewWorkersBeginAnEpoch) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (const uint32_t workers : {1U, 2U, 4U}) {
      for (const bool opens : {false, true}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(workers));
        TraceSimulation trace(seed, opens);
        JobPlan plan = ShuffledPlan(700, seed);
        plan.workers = workers;
        plan.in_order = seed % 2 == 0;
        plan.epochs = 6;
        trace.AddJob(plan);
        EpochPlayer player(&trace);
        player.Play();
        ASSERT_EQ(player.jobs().size(), 1U);
        const JobId job = *player.jobs().begin();
        const auto& passes = player.Passes(job);
        ASSERT_EQ(passes.size(), 6U);
        for (const auto& [number, pass] : passes) {
          EXPECT_EQ(pass.epoch, number);
          EXPECT_EQ(pass.dataset, 0U);
          EXPECT_TRUE(pass.new_processes);
          ExpectEpoch(pass, StreamsOf(trace.Reads(), 0, number));
          for (const EpochStream& stream : pass.streams) EXPECT_EQ(stream.starts_at_first_read, opens);
          EXPECT_TRUE(std::is_sorted(pass.streams.begin(), pass.streams.end(),
                                     [](const auto& a, const auto& b) { return a.pid < b.pid; }));
        }
        EXPECT_EQ(player.ended(), std::set<JobId>{job});
      }
    }
  }
}

TEST(EpochWatchTest, AnEpochBeginsWithItsFirstReadWhenItsProcessesAreNew) {
  TraceSimulation trace(5, true);
  trace.AddJob(ShuffledPlan(2000, 5));
  EpochPlayer player(&trace);
  player.Play();
  ASSERT_EQ(player.begun().size(), 3U);
  for (const auto& begun : player.begun()) {
    const auto first = std::find_if(trace.Reads().begin(), trace.Reads().end(),
                                    [&](const TrueRead& read) { return read.epoch == begun.pass; });
    EXPECT_EQ(begun.time_us, first->time_us);
  }
}

TEST(EpochWatchTest, FilesThatComeAgainBeginAnEpochOfTheSameProcesses) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (const uint32_t workers : {0U, 1U, 2U, 4U}) {
      for (const bool overlapping : {false, true}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(workers));
        TraceSimulation trace(seed, seed % 2 == 0);
        JobPlan plan = ShuffledPlan(1500, seed);
        plan.workers = workers;
        plan.persistent = true;
        plan.overlapping = overlapping && workers > 0;
        plan.in_order = seed % 3 != 0;
        plan.epochs = 5;
        trace.AddJob(plan);
        EpochPlayer player(&trace);
        player.Play();
        ASSERT_EQ(player.jobs().size(), 1U);
        const auto& passes = player.Passes(*player.jobs().begin());
        ASSERT_EQ(passes.size(), 5U);
        for (const auto& [number, pass] : passes) {
          EXPECT_EQ(pass.epoch, number);
          EXPECT_EQ(pass.dataset, 0U);
          const std::map<uint32_t, Order> truth = StreamsOf(trace.Reads(), 0, number);
          if (!plan.overlapping) {
            ExpectEpoch(pass, truth);
            continue;
          }
          // A file that one worker has still to read in the last epoch may be another's first of the next one: which is
          // which cannot be told. So up to three reads may be missing, or too many, at either end.
          for (const EpochStream& stream : pass.streams) {
            const Order seen = FilesOf(stream);
            const Order& files = truth.at(stream.pid);
            ASSERT_GT(std::min(seen.size(), files.size()), 10U);
            const auto begin = std::search(seen.begin(), seen.end(), files.begin() + 3, files.end() - 3);
            EXPECT_NE(begin, seen.end()) << Differ(seen, files);
            EXPECT_LE(begin - seen.begin(), 6);
            EXPECT_LE(seen.size(), files.size() + 6);
          }
        }
        // Six repetitions of a worker, and what others read just now is not counted; later one repetition.
        for (const auto& begun : player.begun()) {
          std::map<uint32_t, int> reads;
          for (const TrueRead& read : trace.Reads()) {
            if (read.epoch == begun.pass && read.time_us <= begun.time_us) reads[read.pid]++;
          }
          int most = 0;
          for (const auto& [pid, count] : reads) most = std::max(most, count);
          EXPECT_LE(most, 20) << "pass " << begun.pass;
        }
      }
    }
  }
}

TEST(EpochWatchTest, PaddingDoesNotMakeAnEpoch) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, true);
    JobPlan plan = ShuffledPlan(1601, seed);
    plan.ranks = 4;
    plan.workers = seed % 2 == 0 ? 0 : 2;
    plan.epochs = 6;
    trace.AddJob(plan);
    EpochPlayer player(&trace);
    player.Play();
    const auto& passes = player.Passes(*player.jobs().begin());
    EXPECT_EQ(passes.size(), 6U);
    for (const auto& [number, pass] : passes) {
      for (const EpochStream& stream : pass.streams) {
        if (!stream.starts_at_first_read) continue;
        EXPECT_EQ(stream.reads[0].file, StreamsOf(trace.Reads(), 0, number)[stream.pid][0]) << "pass " << number;
      }
    }
  }
}

TEST(EpochWatchTest, ValidationIsADatasetOfItsOwn) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (const bool persistent : {false, true}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (persistent ? ", persistent" : ""));
      TraceSimulation trace(seed, true);
      JobPlan plan = ShuffledPlan(1500, seed);
      plan.persistent = persistent;
      plan.epochs = 5;
      for (EntryNumber file = 50'000; file < 50'300; file++) plan.validation.push_back(file);
      plan.validation_workers = seed % 2 == 0 ? 2 : 0;
      trace.AddJob(plan);
      EpochPlayer player(&trace);
      player.Play();
      ASSERT_EQ(player.jobs().size(), 1U);
      const auto& passes = player.Passes(*player.jobs().begin());
      ASSERT_EQ(passes.size(), 10U);
      for (const auto& [number, pass] : passes) {
        const bool validation = number % 2 == 1;
        EXPECT_EQ(pass.dataset, validation ? 1U : 0U);
        EXPECT_EQ(pass.epoch, number / 2);
        ExpectEpoch(pass, StreamsOf(trace.Reads(), 0, number / 2, validation));
      }
    }
  }
}

TEST(EpochWatchTest, ValidationByTheScriptItselfIsSeenByItsFolder) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (const uint32_t threads : {0U, 8U}) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      TraceSimulation trace(seed, true);
      JobPlan plan = ShuffledPlan(5000, seed);  // more than the first reads that are kept
      plan.workers = 0;
      plan.threads = threads;
      for (EntryNumber file = 50'000; file < 50'300; file++) plan.validation.push_back(file);
      trace.AddJob(plan);
      EpochOptions options;
      options.folder_of = [](EntryNumber file) { return EntryNumber{file < 50'000 ? 1U : 2U}; };
      EpochPlayer player(&trace, options);
      player.Play();
      const auto& passes = player.Passes(*player.jobs().begin());
      ASSERT_EQ(passes.size(), 6U);
      for (const auto& [number, pass] : passes) {
        const bool validation = number % 2 == 1;
        EXPECT_EQ(pass.dataset, validation ? 1U : 0U);
        EXPECT_EQ(pass.epoch, number / 2);
        ASSERT_EQ(pass.streams.size(), 1U);
        Order truth = StreamsOf(trace.Reads(), 0, number / 2, validation).begin()->second;
        EXPECT_EQ(pass.streams[0].read_count, truth.size());
        truth.resize(std::min<size_t>(truth.size(), 4096));
        EXPECT_EQ(FilesOf(pass.streams[0]), truth);
      }
    }
  }
}

TEST(EpochWatchTest, ResumedInMidEpochTheNextEpochIsOneAllTheSame) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, true);
    JobPlan plan = ShuffledPlan(2000, seed);
    plan.resume_batch = 40;
    plan.workers = seed % 2 == 0 ? 4 : 0;
    plan.persistent = true;
    trace.AddJob(plan);
    EpochPlayer player(&trace);
    player.Play();
    const auto& passes = player.Passes(*player.jobs().begin());
    EXPECT_EQ(passes.size(), 3U);
    for (const auto& [number, pass] : passes) EXPECT_EQ(pass.epoch, number);
  }
}

TEST(EpochWatchTest, RanksThatReadTheSameOrderDoNotMakeEpochs) {
  TraceSimulation trace(3, true);
  JobPlan plan = ShuffledPlan(2000, 3);
  const auto order = plan.order;
  plan.order = [order](uint64_t epoch) {
    Order twice;
    for (const EntryNumber file : order(epoch)) twice.insert(twice.end(), 2, file);
    return twice;
  };
  plan.ranks = 2;
  trace.AddJob(plan);
  EpochPlayer player(&trace);
  player.Play();
  EXPECT_EQ(player.Passes(*player.jobs().begin()).size(), 3U);
}

TEST(EpochWatchTest, ASamplerWithReplacementDoesLittleHarm) {
  TraceSimulation trace(3, true);
  JobPlan plan;
  plan.order = [](uint64_t epoch) {
    std::mt19937_64 random(epoch);
    Order files(5000);
    for (EntryNumber& file : files) file = static_cast<EntryNumber>(random() % 5000);
    return files;
  };
  trace.AddJob(plan);
  EpochPlayer player(&trace);
  player.Play();
  const auto& passes = player.Passes(*player.jobs().begin());
  EXPECT_LE(passes.size(), 40U);
}

}  // namespace
}  // namespace augur
