// SPDX-License-Identifier: Apache-2.0
#include "readers/epochs.h"

#include <algorithm>
#include <utility>

#include "readers/file_set.h"
#include "readers/job_watch.h"

namespace augur {

EpochWatch::EpochWatch(ProcessTable* processes, EpochOptions options)
    : options_(std::move(options)),
      streams_(processes),
      budget_(std::make_unique<FileSetBudget>(options_.set_bytes_max)),
      first_reads_left_(options_.all_first_reads_max) {}

EpochWatch::~EpochWatch() = default;

JobWatch& EpochWatch::Job(JobId id) {
  std::unique_ptr<JobWatch>& job = jobs_[id];
  if (!job) {
    job = std::make_unique<JobWatch>(id, JobWatchShared{.options = options_,
                                                        .streams = streams_,
                                                        .budget = *budget_,
                                                        .first_reads_left = first_reads_left_,
                                                        .events = events_});
  }
  return *job;
}

std::optional<EpochWatch::PassRead> EpochWatch::OnAccess(const Access& access) {
  const Streams::Attribution attribution = streams_.Take(access);
  // What is told late may be of a job that has ended: that is not made anew.
  const auto known = [this](JobId id) {
    const auto found = jobs_.find(id);
    return found != jobs_.end() ? found->second.get() : nullptr;
  };
  if (attribution.open) {
    const JobId id = attribution.open->job;
    if (JobWatch* const job = id == 0 ? &Job(0) : known(id)) job->Open(*attribution.open);
  }
  if (!attribution.read) return std::nullopt;
  Forget(streams_.TakeForgotten());

  const StreamRead& read = *attribution.read;
  if (read.named) {
    if (JobWatch* const job = known(read.named_job)) job->Withdraw(read.file);
  }
  const bool first = !jobs_.contains(read.job);
  JobWatch& job = Job(read.job);
  const uint32_t pass = job.Read(read);
  // Opens that were told since its process began, and before anything named the job.
  if (first && read.process && streams_.OnlyJob(read.time_us) == read.job && jobs_.contains(0)) {
    job.Adopt(Job(0).TakeUnattributedSince(read.process->facts.start_us));
  }
  return PassRead{.file = read.file, .job = read.job, .pass = pass, .stream = read.stream, .again = read.again};
}

void EpochWatch::Tick(uint64_t now_us) {
  if (now_us < ticked_us_ + kTickUs && ticked_us_ != 0) return;
  ticked_us_ = now_us;
  Forget(streams_.TakeEnded());
}

void EpochWatch::Forget(const std::vector<JobId>& jobs) {
  for (const JobId id : jobs) {
    if (jobs_.erase(id) > 0) events_.push_back({.job = id, .what = What::kEnded});
  }
}

void EpochWatch::ForgetAll() {
  jobs_.clear();
  events_.clear();
  streams_.ForgetAll();
}

std::vector<EpochWatch::Event> EpochWatch::TakeEvents() { return std::exchange(events_, {}); }

std::optional<EpochStart> EpochWatch::Running(JobId job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? std::nullopt : it->second->Get(std::nullopt);
}

std::optional<EpochWatch::Kept> EpochWatch::KeptReads(JobId job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? std::nullopt : it->second->KeptReads();
}

std::optional<EpochStart> EpochWatch::Pass(JobId job, uint32_t pass) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? std::nullopt : it->second->Get(pass);
}

std::vector<JobId> EpochWatch::Jobs() const {
  std::vector<JobId> ids;
  ids.reserve(jobs_.size());
  for (const auto& [id, job] : jobs_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace augur
