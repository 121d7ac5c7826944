// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "augur/status.h"
#include "search/search_job.h"

namespace augur {

// Searcher runs search jobs beside a training that must not notice.
//
// The bet: a machine that trains has cores that wait for the disk or the accelerator, and a thread of the idle class
// (SCHED_IDLE) runs exactly then. So every core gets such a worker, and mostly that is all. Where no core is ever idle,
// the idle class gets under 1 % of one (measured: 0.2 to 0.8 %), and a search of 33 core-seconds takes hours. Then the
// clerk, an ordinary thread that keeps the books, works too, as soon as the owner says by AllowShare that the price is
// justified: up to that share of one core, less what the idle workers get, measured by the threads' own processor time
// and spread evenly by sleeping in between. When cores fall idle again it stops by itself.
//
// Safe from any thread. One job at a time, further ones wait in their order of submission. A worker may lose its core
// for seconds at any instruction, so workers share nothing but atomics with the others: nobody waits for a lock that
// one of them holds. What is waited for is the end of the range that it is in (a millisecond of processor time): before
// on_done of a job that ends, and in the destructor.
class Searcher {
 public:
  struct Options {
    unsigned threads = 0;    // workers of the idle class; 0: as many as cores that this process may use
    double share = 0;        // what AllowShare begins with
    int nice = 5;            // of the clerk; see searcher.cc for what it makes of a busy core
    bool idle_class = true;  // false: workers of the ordinary class, for measurements on a machine of one's own
  };

  // kNoSpace: no thread can be started.
  static Result<std::unique_ptr<Searcher>> Start(const Options& options);
  // Cancels all jobs, calls their on_done, ends the threads.
  virtual ~Searcher() = default;

  // Appends the job to the queue and returns its number (from 1).
  virtual uint64_t Submit(SearchJob job) = 0;
  // The job ends as cancelled, at once where it waits, else within a range's time; its on_done tells. A job that has
  // ended, or is unknown: nothing happens.
  virtual void Cancel(uint64_t job) = 0;
  // Nothing for a job that has ended or is unknown.
  virtual std::optional<SearchProgress> Progress(uint64_t job) const = 0;
  // Allows so much of one core, 0 to 1, where the idle workers get less. 0 withdraws it. Holds for all jobs from now
  // on.
  virtual void AllowShare(double share) = 0;
};

}  // namespace augur
