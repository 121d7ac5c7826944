// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "readers/epochs.h"
#include "unit/readers/trace_simulation.h"

namespace augur {

// Plays a trace to an EpochWatch and keeps what it says.
class EpochPlayer {
 public:
  struct Begun {
    JobId job;
    uint32_t pass;
    uint64_t time_us;
  };

  // The trace must outlive the player.
  explicit EpochPlayer(TraceSimulation* trace, EpochOptions options = {});

  void Play();

  // What was said last of each pass of the job.
  const std::map<uint32_t, EpochStart>& Passes(JobId job) { return passes_[job]; }
  const std::vector<Begun>& begun() const { return begun_; }
  const std::set<JobId>& jobs() const { return jobs_; }
  // The job that was found last; 0: that of reads without a process, or none.
  JobId LastJob() const { return jobs_.empty() ? 0 : *jobs_.rbegin(); }
  const std::set<JobId>& ended() const { return ended_; }
  ProcessTable& table() { return table_; }

 private:
  void Keep();

  TraceSimulation& trace_;
  ProcessTable table_;
  EpochWatch watch_;
  std::map<JobId, std::map<uint32_t, EpochStart>> passes_;
  std::vector<Begun> begun_;
  uint64_t kept_us_ = 0;
  std::set<JobId> jobs_;
  std::set<JobId> ended_;
};

Order FilesOf(const EpochStream& stream);

// Where two lists of files begin to differ.
std::string Differ(const Order& files, const Order& truth);

// The streams of a pass are those of an epoch, read for read.
void ExpectEpoch(const EpochStart& pass, const std::map<uint32_t, Order>& truth);

}  // namespace augur
