// SPDX-License-Identifier: Apache-2.0
#include "seed_search/running_job.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/check.h"

namespace augur {
namespace {

double Seconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

std::chrono::nanoseconds ThreadTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

RunningJob::RunningJob(uint64_t number, SearchJob job) : number_(number), job_(std::move(job)) {
  AUGUR_CHECK(job_.units > 0 && job_.range_units > 0 && job_.work != nullptr);
}

bool RunningJob::WorkRange(SearchTurn& turn) {
  // Not beyond the end by a fetch_add for ever: threads come once each when all is taken.
  if (Stopped() || next_.load(std::memory_order_relaxed) >= job_.units) return false;
  const uint64_t first = next_.fetch_add(job_.range_units, std::memory_order_relaxed);
  if (first >= job_.units) return false;
  const uint64_t count = std::min(job_.range_units, job_.units - first);
  job_.work(first, count, turn);
  // A range that was broken off has not been searched; then it does not matter how far it got.
  if (!Stopped()) done_.fetch_add(count, std::memory_order_acq_rel);
  return true;
}

void RunningJob::Found(uint64_t result) {
  AUGUR_CHECK(result < uint64_t{1} << 62);
  StopAs((result << 2) | kStopFound);
}

void RunningJob::StopAs(uint64_t stop) {
  uint64_t going_on = kGoOn;
  stop_.compare_exchange_strong(going_on, stop, std::memory_order_acq_rel);
}

bool RunningJob::Ended() const { return Stopped() || done_.load(std::memory_order_acquire) >= job_.units; }

void RunningJob::AddTime(std::chrono::nanoseconds time) {
  time_ns_.fetch_add(time.count(), std::memory_order_relaxed);
  if (job_.allowance == nullptr) return;
  job_.allowance->Take(time);
  if (job_.allowance->spent()) StopAs(kStopSpent);
}

SearchOutcome RunningJob::Outcome() const {
  const uint64_t stop = stop_.load(std::memory_order_acquire);
  switch (stop & kStopMask) {
    case kStopFound: return {SearchEnd::kFound, stop >> 2, Progress()};
    case kStopCancelled: return {SearchEnd::kCancelled, 0, Progress()};
    case kStopSpent: return {SearchEnd::kSpent, 0, Progress()};
    default: return {SearchEnd::kExhausted, 0, Progress()};
  }
}

SearchProgress RunningJob::Progress() const {
  SearchProgress progress;
  if (begun_ == std::chrono::steady_clock::time_point{}) return progress;
  const auto done = static_cast<double>(done_.load(std::memory_order_relaxed));
  progress.fraction = done / static_cast<double>(job_.units);
  progress.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  progress.units_a_second = progress.seconds > 0 ? done / progress.seconds : 0;
  progress.core_seconds = Seconds(time_ns_.load(std::memory_order_relaxed));
  return progress;
}

}  // namespace augur
