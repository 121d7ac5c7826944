// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "seed_search/search_job.h"

namespace augur {

// Processor time of the calling thread.
std::chrono::nanoseconds ThreadTime();

// RunningJob is a SearchJob and how far it is. What workers touch is atomic; the coordinator owns it, and keeps it
// until no worker has it any more.
class RunningJob {
 public:
  RunningJob(uint64_t number, SearchJob job);

  uint64_t number() const { return number_; }
  const SearchJob& job() const { return job_; }

  // From any thread.
  // Works on the next range. False: there is none, or the job has ended.
  bool WorkRange(SearchTurn& turn);
  // The first of all that stop it decides how the job ends. REQUIRES: result < 2^62.
  void Found(uint64_t result);
  void Cancel() { StopAs(kStopCancelled); }
  // Found, cancelled, or its allowance is spent.
  bool Stopped() const { return stop_.load(std::memory_order_acquire) != kGoOn; }
  // Stopped, or searched to the end.
  bool Ended() const;
  // Takes it from the allowance, too, and stops the job when that is spent.
  void AddTime(std::chrono::nanoseconds time);

  // The coordinator's.
  void Begin() { begun_ = std::chrono::steady_clock::now(); }
  // REQUIRES: Ended().
  SearchOutcome Outcome() const;
  // Of a job that has not begun: all 0. The coordinator, or whoever keeps it from calling Begin meanwhile.
  SearchProgress Progress() const;

  // Workers that were handed this job and have not returned it.
  std::atomic<unsigned> workers{0};

 private:
  // The low two bits of stop_; above them is the result, so that both come with one instruction.
  enum Stop : uint64_t { kGoOn, kStopFound, kStopCancelled, kStopSpent, kStopMask = 3 };

  void StopAs(uint64_t stop);

  // Constant after construction.
  const uint64_t number_;
  const SearchJob job_;
  // The coordinator's.
  std::chrono::steady_clock::time_point begun_{};
  // Own synchronization.
  std::atomic<uint64_t> next_{0};  // the first unit that no worker has taken
  std::atomic<uint64_t> done_{0};  // units of ranges that were searched
  std::atomic<uint64_t> stop_{kGoOn};
  std::atomic<int64_t> time_ns_{0};
};

}  // namespace augur
