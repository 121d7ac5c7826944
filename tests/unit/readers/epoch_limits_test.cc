// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "readers/epochs.h"
#include "unit/readers/epoch_player.h"
#include "unit/readers/trace_simulation.h"

// How much memory an EpochWatch takes, and how often it asks for processes.
namespace augur {
namespace {

TEST(EpochWatchTest, MemoryIsBounded) {
  TraceSimulation trace(3, true);
  JobPlan plan = ShuffledPlan(20'000, 1);
  plan.workers = 20;
  plan.epochs = 4;
  plan.batch = 4;
  trace.AddJob(plan);
  EpochOptions options;
  options.streams_max = 50;
  options.first_reads_max = 100;
  options.all_first_reads_max = 300;
  options.set_bytes_max = 4096;
  EpochPlayer player(&trace, options);
  player.Play();
  for (const auto& [number, pass] : player.Passes(*player.jobs().begin())) {
    size_t reads = 0;
    for (const EpochStream& stream : pass.streams) {
      EXPECT_LE(stream.reads.size(), 100U);
      reads += stream.reads.size();
    }
    EXPECT_LE(reads, 300U);
    EXPECT_LE(pass.streams.size(), 51U);
  }
  EXPECT_EQ(player.Passes(*player.jobs().begin()).size(), 4U) << "epochs of new processes are seen all the same";
}

TEST(EpochWatchTest, OneQuestionForAThread) {
  TraceSimulation trace(3, true);
  JobPlan plan = ShuffledPlan(5000, 1);
  plan.epochs = 2;
  trace.AddJob(plan);
  EpochPlayer player(&trace);
  player.Play();
  // 8 workers, each with its parent; the ancestors of the first; and a look at the script each half a second. Once more
  // for a thread that was silent.
  const uint64_t seconds = trace.Reads().back().time_us / 1'000'000;
  EXPECT_LE(player.table().lookups(), 8 * 2 + 2 + 3 * (seconds + 1));
}

}  // namespace
}  // namespace augur
