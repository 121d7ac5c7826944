// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "seed_search/idle_worker.h"
#include "seed_search/running_job.h"
#include "seed_search/search_job.h"

namespace augur {

// Searcher runs search jobs beside a training that must not notice.
//
// The bet: a machine that trains has cores that wait for the disk or the accelerator. A thread of the idle class
// (SCHED_IDLE) that also stays away where it must wait (CoreContention) runs exactly then, so every core gets such a
// worker. Where no core is ever idle, the workers get under 1 % of one, and a search of 33 core-seconds takes hours. A
// job's allowance (SearchAllowance) bounds what the search costs in all. The coordinator, an ordinary thread, gives the
// workers their jobs and tells the ends of the jobs.
//
// Safe from any thread. One job at a time, further ones wait in their order of submission. There is no maximum
// of them here: the prediction has at most one search for the order and one of streams for each job. A worker may
// lose its core for seconds at any instruction, so workers share nothing but atomics with the others. No thread waits
// for a lock that one of them holds. Only the destructor waits for the ends of their ranges, each a millisecond of
// processor time.
class Searcher {
 public:
  struct Options {
    unsigned threads = 0;    // workers of the idle class; 0: as many as cores that this process may use
    bool idle_class = true;  // false: ordinary workers, for measurements
  };

  // kNoSpace: no thread can be started.
  static Result<std::unique_ptr<Searcher>> Start(const Options& options);
  // Cancels all jobs, and ends the threads after the last on_done.
  ~Searcher();
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;

  // Appends the job to the queue and returns its number (from 1).
  uint64_t Submit(SearchJob job);
  // The job ends as cancelled, at once; its on_done tells. A job that has ended, or is unknown: nothing happens.
  void Cancel(uint64_t number);
  // Nothing for a job that has ended or is unknown.
  std::optional<SearchProgress> Progress(uint64_t number) const;

 private:
  Searcher() = default;

  // The coordinator's thread.
  void Run();
  void Sweep();
  RunningJob* Current();
  void Finish();

  // Constant after Start.
  std::vector<std::unique_ptr<IdleWorker>> workers_;
  std::thread thread_;
  // Own synchronization.
  WorkerBoard board_;
  // The coordinator's.
  std::vector<std::unique_ptr<RunningJob>> leaving_;  // ended, but a worker still has them
  // Guarded by mu_. Held for a few instructions, never by a worker.
  mutable Mutex mu_;
  bool ends_ AUGUR_GUARDED_BY(mu_) = false;
  uint64_t numbers_ AUGUR_GUARDED_BY(mu_) = 0;
  std::deque<std::unique_ptr<RunningJob>> queue_ AUGUR_GUARDED_BY(mu_);  // at most two for each job of the prediction
  std::unique_ptr<RunningJob> current_ AUGUR_GUARDED_BY(mu_);            // reset by the coordinator alone
};

}  // namespace augur
