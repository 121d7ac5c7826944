// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "predict/run_recorder.h"
#include "predict/tracked_job.h"
#include "readers/epochs.h"

namespace augur {

// JobTable has all jobs that read, and finds the job of an access. Job 0 has the accesses of unknown processes. Not
// synchronized. EpochWatch bounds the number of jobs: its events begin and end them.
class JobTable {
 public:
  using Jobs = std::unordered_map<JobId, std::unique_ptr<TrackedJob>>;

  // Of each job: see TrackedJob.
  JobTable(double core_seconds_max, const RunRecorder::Options& record)
      : core_seconds_max_(core_seconds_max), record_(record) {}

  const Jobs& all() const { return jobs_; }
  size_t size() const { return jobs_.size(); }
  // nullptr: it is not there.
  TrackedJob* Find(JobId id) const;
  // Makes the job if it is not there.
  TrackedJob& Get(JobId id);
  // Returns the job of an access. `read`: a READ, whose process names its job. An open that the page cache served names
  // none. It goes to the job that is to read the file soonest, if that is about as soon as its readers are apart, or if
  // all orders are known. Otherwise another job mostly opened it: the only one without an order, else `pass_read.job`.
  TrackedJob& OwnerOf(const EpochWatch::PassRead& pass_read, bool read);

  // The predictions of the jobs whose orders are known, ForecastPublisher::kMergedJobsMax at most.
  std::vector<const JobPredictor*> Known() const;
  // The job of the opens that the page cache served to processes that can be seen, once their order is known; else
  // nullptr.
  const TrackedJob* Unattributed() const;
  // Erases Unattributed where another job reads in the same order: no two jobs read in one order, so the opens
  // were that job's. Returns whether it did.
  bool EraseDouble();

  void Erase(JobId id) { jobs_.erase(id); }
  void Clear() { jobs_.clear(); }

 private:
  const double core_seconds_max_;
  const RunRecorder::Options record_;
  Jobs jobs_;
};

}  // namespace augur
