// SPDX-License-Identifier: Apache-2.0
#include "prefetch/prefetch_status.h"

namespace augur {

void PrefetchStatus::SetView(std::string spec) {
  const MutexLock lock(mu_);
  spec_ = std::move(spec);
}

void PrefetchStatus::SetProgress(std::string progress) {
  const MutexLock lock(mu_);
  progress_ = std::move(progress);
}

void PrefetchStatus::Publish(const Now& now, const DiskModel& disk) {
  // Beside those that a reader waits for; a difference below zero wraps, and so does the sum.
  statistics_.Raise(Gauge::kReadsInFlight, now.batch_reads - std::exchange(batch_reads_told_, now.batch_reads));
  statistics_.Set(Gauge::kPushesWaiting, now.pushes);
  statistics_.Set(Gauge::kStagingBytes, now.staging_bytes);
  const PlannerGauges& planner = now.planner;
  statistics_.Set(Gauge::kOrdersQueued, planner.epochs_queued);
  statistics_.Set(Gauge::kOrderPosition, planner.position);
  statistics_.Set(Gauge::kOrderFiles, planner.end);
  statistics_.Set(Gauge::kPushWindowBytes, planner.push_window_bytes);
  statistics_.Set(Gauge::kPageCacheLeftBytes, planner.reusable_bytes);
  statistics_.Set(Gauge::kOrderBytes, now.table_bytes);
  const MutexLock lock(mu_);
  if (disk.known()) {
    disk_read_us_ = disk.read_us();
    disk_bytes_per_second_ = disk.bytes_per_second();
    statistics_.Set(Gauge::kDiskReadCostUs, static_cast<uint64_t>(disk_read_us_));
    statistics_.Set(Gauge::kDiskBytesPerSecond, static_cast<uint64_t>(disk_bytes_per_second_));
  }
  const char* const unpredicted = now.warming ? "warm" : now.filling ? "fill" : "idle";
  policy_ = planner.epochs_queued == 0 ? unpredicted : planner.in_regions ? "regions" : "window";
}

std::vector<std::pair<std::string, std::string>> PrefetchStatus::Facts() const {
  const MutexLock lock(mu_);
  std::vector<std::pair<std::string, std::string>> facts = {{"policy", policy_}, {"progress", progress_}};
  if (!spec_.empty()) facts.emplace_back("view", spec_);
  if (disk_bytes_per_second_ > 0) {
    facts.emplace_back("disk", std::to_string(static_cast<uint64_t>(disk_read_us_)) + " us a read and " +
                                   std::to_string(static_cast<uint64_t>(disk_bytes_per_second_ / 1e6)) + " MB/s");
  }
  return facts;
}

}  // namespace augur
