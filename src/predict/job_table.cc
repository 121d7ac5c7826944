// SPDX-License-Identifier: Apache-2.0
#include "predict/job_table.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "predict/forecast_publisher.h"

namespace augur {

TrackedJob* JobTable::Find(JobId id) const {
  const auto job = jobs_.find(id);
  return job == jobs_.end() ? nullptr : job->second.get();
}

TrackedJob& JobTable::Get(JobId id) {
  std::unique_ptr<TrackedJob>& job = jobs_[id];
  if (!job) job = std::make_unique<TrackedJob>(id, core_seconds_max_, record_);
  return *job;
}

TrackedJob& JobTable::OwnerOf(const EpochWatch::PassRead& pass_read, bool read) {
  if (read) {
    TrackedJob& job = Get(pass_read.job);
    job.named = true;
    return job;
  }
  TrackedJob* owner = nullptr;
  uint64_t least = 0;
  TrackedJob* unknown = nullptr;
  size_t unknown_jobs = 0;
  for (auto& [id, job] : jobs_) {
    if (!job->known()) {
      if (job->unattributed()) continue;
      unknown = job.get();
      ++unknown_jobs;
      continue;
    }
    const std::optional<uint64_t> away = job->prediction.Expects(pass_read.file);
    if (!away || (owner != nullptr && *away >= least)) continue;
    owner = job.get();
    least = *away;
  }
  if (owner != nullptr && (unknown_jobs == 0 || least <= owner->prediction.follower().apart())) return *owner;
  return pass_read.job == 0 && unknown_jobs == 1 ? *unknown : Get(pass_read.job);
}

std::vector<const JobPredictor*> JobTable::Known() const {
  std::vector<const JobPredictor*> known;
  for (const auto& [id, job] : jobs_) {
    if (job->known() && known.size() < ForecastPublisher::kMergedJobsMax) known.push_back(&job->prediction);
  }
  return known;
}

const TrackedJob* JobTable::Unattributed() const {
  const TrackedJob* const job = Find(0);
  return job != nullptr && job->unattributed() && job->known() ? job : nullptr;
}

bool JobTable::EraseDouble() {
  const TrackedJob* const unattributed = Unattributed();
  if (unattributed == nullptr) return false;
  const Order& files = unattributed->prediction.running().order->files();
  const bool is_double = std::ranges::any_of(jobs_, [&](const auto& item) {
    const TrackedJob& job = *item.second;
    return &job != unattributed && job.known() && job.prediction.running().order->files() == files;
  });
  if (is_double) jobs_.erase(0);
  return is_double;
}

}  // namespace augur
