// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "control/statistics.h"
#include "prefetch/disk_model.h"
#include "prefetch/planner.h"

namespace augur {

// PrefetchStatus tells people and programs what the prefetch does now: gauges, and facts that are no numbers. Facts is
// safe from any thread, the others belong to the planning thread. REQUIRES: statistics outlive it.
class PrefetchStatus {
 public:
  struct Now {
    uint64_t batch_reads = 0;
    uint64_t pushes = 0;
    uint64_t staging_bytes = 0;  // memory of files that are read ahead
    uint64_t table_bytes = 0;    // of the planner
    bool filling = false;
    bool warming = false;
    PlannerGauges planner = {};
  };

  explicit PrefetchStatus(Statistics& statistics) : statistics_(statistics) {}
  PrefetchStatus(const PrefetchStatus&) = delete;
  PrefetchStatus& operator=(const PrefetchStatus&) = delete;

  // The view that is followed; empty: the original files.
  void SetView(std::string spec);
  // By what the reader's place is known: "opens", "sentinels", "reads".
  void SetProgress(std::string progress);
  void Publish(const Now& now, const DiskModel& disk);

  // Names and values, for PrefetchControl::Describe.
  std::vector<std::pair<std::string, std::string>> Facts() const;

 private:
  // Own synchronization.
  Statistics& statistics_;

  // Used by the planning thread only.
  uint64_t batch_reads_told_ = 0;  // in Gauge::kReadsInFlight

  mutable Mutex mu_;
  std::string spec_ AUGUR_GUARDED_BY(mu_);
  std::string policy_ AUGUR_GUARDED_BY(mu_) = "idle";
  std::string progress_ AUGUR_GUARDED_BY(mu_) = "none";
  double disk_read_us_ AUGUR_GUARDED_BY(mu_) = 0;
  double disk_bytes_per_second_ AUGUR_GUARDED_BY(mu_) = 0;
};

}  // namespace augur
