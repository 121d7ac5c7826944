// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/order_report.h"
#include "control/statistics_reading.h"
#include "diagnosis/processor_use.h"

namespace augur {

// The state of a mount, and of the jobs that read it, at one moment.
struct RunSample {
  uint64_t time_us = 0;  // CLOCK_MONOTONIC
  StatisticsReading reading;
  bool predicts = true;  // the daemon works out orders
  std::vector<OrderReport> jobs;
  ProcessorUse processors;
};

// RunWindow is what happened between two samples of a mount. Pure; not synchronized. A counter that went back, as that
// of a daemon that began anew, counts from zero.
class RunWindow {
 public:
  RunWindow(RunSample before, RunSample after) : before_(std::move(before)), after_(std::move(after)) {}

  const RunSample& before() const { return before_; }
  const RunSample& after() const { return after_; }
  // Never zero.
  double seconds() const;

  uint64_t Delta(Stat stat) const;
  double PerSecond(Stat stat) const { return static_cast<double>(Delta(stat)) / seconds(); }
  HistogramCounts Delta(Histogram histogram) const;
  uint64_t Delta(Gauge gauge) const;  // of one that only grows
  uint64_t Now(Gauge gauge) const { return after_.reading.numbers[gauge]; }
  uint64_t Total(Stat stat) const { return after_.reading.numbers[stat]; }
  std::string Fact(std::string_view name) const { return after_.reading.Fact(name); }

  // Files that were read: those that jobs have read, else opens, else READ requests.
  uint64_t files() const;
  // Of a job; 0 if it is new.
  uint64_t FilesOf(const OrderReport& job) const;
  // Processes that read: the workers of all scripts, or the scripts themselves. 0: not known.
  unsigned readers() const;
  // Processors that these used, at least 0: 3.2 is three of them and a fifth of a fourth one.
  double readers_processors() const;
  double daemon_processors() const;
  double other_processors() const;  // of all other programs of the machine
  // The part of all processors that was busy, 0 to 1; less than 0: not known.
  double machine_busy() const;
  // How long readers have waited for the mount, all together. A READ of the kernel's read-ahead, which may wait beside
  // another one of the same reader, counts as one that the reader waits for.
  double wait_seconds() const;
  // The same as a part of their time, 0 to 1.
  double wait_share() const;
  // The part of the time in which at least one read of the disk or server was under way, 0 to 1.
  double disk_busy() const;
  // The mean number of those reads while there was one.
  double reads_in_flight() const;

 private:
  RunSample before_;
  RunSample after_;
};

}  // namespace augur
