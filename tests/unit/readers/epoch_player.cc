// SPDX-License-Identifier: Apache-2.0
#include "unit/readers/epoch_player.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace augur {

EpochPlayer::EpochPlayer(TraceSimulation* trace, EpochOptions options)
    : trace_(*trace), table_(&trace->processes()), watch_(&table_, std::move(options)) {}

void EpochPlayer::Play() {
  uint64_t count = 0;
  for (const Access& access : trace_.Accesses()) {
    trace_.processes().SetNow(access.time_us);
    if (const auto seen = watch_.OnAccess(access)) jobs_.insert(seen->job);
    if (access.time_us > kept_us_ + 100'000) {  // before a job may have ended
      Keep();
      kept_us_ = access.time_us;
    }
    watch_.Tick(access.time_us);
    for (const EpochWatch::Event& event : watch_.TakeEvents()) {
      if (event.what == EpochWatch::What::kBegun) {
        begun_.push_back({event.job, event.pass, access.time_us});
        Keep();
      } else if (event.what == EpochWatch::What::kEnded) {
        ended_.insert(event.job);
      }
    }
    if (++count % 97 == 0) Keep();
  }
  Keep();
  trace_.processes().SetNow(~uint64_t{0} - 1);
  watch_.Tick(~uint64_t{0} - 1);
  for (const EpochWatch::Event& event : watch_.TakeEvents()) {
    if (event.what == EpochWatch::What::kEnded) ended_.insert(event.job);
  }
}

void EpochPlayer::Keep() {
  for (const JobId job : watch_.Jobs()) {
    const auto running = watch_.Running(job);
    if (!running) continue;
    // What is told of it without a copy.
    size_t reads = 0;
    for (const EpochStream& stream : running->streams) reads += stream.reads.size();
    const auto kept = watch_.KeptReads(job);
    if (!kept) FAIL() << "job " << job;
    EXPECT_EQ(kept->pass, running->pass);
    EXPECT_EQ(kept->reads, reads);
    for (uint32_t pass = running->pass < 4 ? 0 : running->pass - 3; pass <= running->pass; pass++) {
      if (const auto epoch = watch_.Pass(job, pass)) passes_[job].insert_or_assign(pass, *epoch);
    }
  }
}

Order FilesOf(const EpochStream& stream) {
  Order files;
  for (const FirstRead& read : stream.reads) files.push_back(read.file);
  return files;
}

std::string Differ(const Order& files, const Order& truth) {
  const auto at = std::mismatch(files.begin(), files.end(), truth.begin(), truth.end()).first - files.begin();
  std::string text =
      std::to_string(files.size()) + " of " + std::to_string(truth.size()) + " from " + std::to_string(at) + ":";
  for (size_t i = static_cast<size_t>(at); i < std::min<size_t>(files.size(), static_cast<size_t>(at) + 4); i++) {
    text += " " + std::to_string(files[i]);
  }
  text += ", not";
  for (size_t i = static_cast<size_t>(at); i < std::min<size_t>(truth.size(), static_cast<size_t>(at) + 4); i++) {
    text += " " + std::to_string(truth[i]);
  }
  return text;
}

void ExpectEpoch(const EpochStart& pass, const std::map<uint32_t, Order>& truth) {
  std::map<uint32_t, Order> streams;
  for (const EpochStream& stream : pass.streams) {
    streams[stream.pid] = FilesOf(stream);
    EXPECT_EQ(stream.read_count, stream.reads.size());
  }
  if (streams == truth) return;
  for (const auto& [pid, files] : truth) {
    if (streams[pid] == files) continue;
    ADD_FAILURE() << "process " << pid << ": " << Differ(streams[pid], files);
  }
  EXPECT_EQ(streams.size(), truth.size());
}

}  // namespace augur
