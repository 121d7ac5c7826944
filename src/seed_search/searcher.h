// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
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
#include "seed_search/share_budget.h"

namespace augur {

// Searcher runs search jobs beside a training that must not notice.
//
// The bet: a machine that trains has cores that wait for the disk or the accelerator, and a thread of the idle class
// (SCHED_IDLE) that also stays away where it must wait (CoreContention) runs exactly then. So every core gets such a
// worker, and mostly that is all. Where no core is ever idle, they get under 1 % of one, and a search of 33
// core-seconds takes hours. Then the clerk, an ordinary thread that keeps the books, works too, as soon as the owner
// says by AllowShare that the price is justified: up to that share of one core, less what the idle workers get,
// measured by the threads' own processor time and spread evenly by sleeping in between. When cores fall idle again it
// stops by itself. What it costs is known beforehand: the core-seconds of the search, however they are spread; the
// share only bounds how much at a time.
//
// Safe from any thread. One job at a time, further ones wait in their order of submission. A worker may lose its core
// for seconds at any instruction, so workers share nothing but atomics with the others: nobody waits for a lock that
// one of them holds. Only the destructor waits for the ends of their ranges, each a millisecond of processor time.
class Searcher {
 public:
  struct Options {
    unsigned threads = 0;  // workers of the idle class; 0: as many as cores that this process may use
    double share = 0;      // as by AllowShare
    // Of the clerk, on top of the process's own. 0, since the share already bounds what it takes, while niceness bounds
    // what it can get: beside five busy processes a core, where a share of 0.25 was allowed, 0.10 of a core came of
    // niceness 0, 0.05 of 5, and 0.003 of 19 (the idle workers had 0.007).
    int nice = 0;
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
  // Allows so much of one core, 0 to 1, where the idle workers get less. 0 withdraws it, but for the rest of a range
  // that the clerk has begun. Holds for all jobs from now on.
  void AllowShare(double share);
  // Processor time that the clerk has taken for all jobs so far, in seconds.
  double PaidSeconds() const;

 private:
  class ClerkTurn;

  explicit Searcher(const Options& options) : nice_(options.nice), share_(options.share) {}

  // The clerk's thread.
  void Run();
  void Sweep();
  RunningJob* Current();
  void Finish();
  void Pay(RunningJob* job);
  // Takes the time since the last call from the budget, with `share_min` of it granted in any case.
  void Account(RunningJob* job, double share_min);

  // Constant after Start.
  const int nice_;
  std::vector<std::unique_ptr<IdleWorker>> workers_;
  std::thread thread_;
  // Own synchronization.
  WorkerBoard board_;
  std::atomic<double> share_;
  std::atomic<int64_t> paid_ns_ = 0;
  // The clerk's.
  std::vector<std::unique_ptr<RunningJob>> leaving_;  // ended, but a worker still has them
  ShareBudget budget_;
  std::chrono::steady_clock::time_point accounted_{};
  std::chrono::nanoseconds accounted_own_{0};
  int64_t accounted_idle_ns_ = 0;
  // Guarded by mu_. Held for a few instructions, never by a worker.
  mutable Mutex mu_;
  bool ends_ AUGUR_GUARDED_BY(mu_) = false;
  uint64_t numbers_ AUGUR_GUARDED_BY(mu_) = 0;
  std::deque<std::unique_ptr<RunningJob>> queue_ AUGUR_GUARDED_BY(mu_);
  std::unique_ptr<RunningJob> current_ AUGUR_GUARDED_BY(mu_);  // reset by the clerk alone
};

}  // namespace augur
