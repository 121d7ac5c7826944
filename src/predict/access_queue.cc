// SPDX-License-Identifier: Apache-2.0
#include "predict/access_queue.h"

#include <utility>

namespace augur {
namespace {

// An unhurried thread wakes for the accesses that can turn hot data cold: 16 fetched files (DataHeat).
constexpr size_t kAccessesToHurry = 16;

}  // namespace

void AccessQueue::AddRead(uint32_t view, EntryNumber file, uint32_t reader, uint64_t now_us) {
  const MutexLock lock(mu_);
  Add({.file = file, .view = view, .reader = reader, .read = true, .time_us = now_us});
}

void AccessQueue::AddOpens(uint32_t view, std::span<const EntryNumber> files, uint64_t now_us) {
  const MutexLock lock(mu_);
  for (const EntryNumber file : files) {
    Add({.file = file, .view = view, .reader = 0, .read = false, .time_us = now_us});
  }
}

void AccessQueue::Add(const Access& access) {
  if (accesses_.size() >= accesses_max_) {
    ++dropped_;
    return statistics_.Add(Stat::kAccessesDropped, 1);
  }
  if (accesses_.size() == (unhurried_ ? kAccessesToHurry : 0)) posted_.NotifyOne();
  accesses_.push_back(access);
}

void AccessQueue::Post(std::function<void()> event) {
  const MutexLock lock(mu_);
  events_.push_back(std::move(event));
  posted_.NotifyOne();
}

void AccessQueue::Stop() {
  const MutexLock lock(mu_);
  stopping_ = true;
  posted_.NotifyOne();
}

bool AccessQueue::stopping() const {
  const MutexLock lock(mu_);
  return stopping_;
}

// The two vectors of accesses change places, so that their memory is used again.
bool AccessQueue::Take(bool unhurried, Batch* batch) {
  batch->accesses.clear();
  batch->events.clear();
  const MutexLock lock(mu_);
  unhurried_ = unhurried;
  if (accesses_.empty() && events_.empty() && !stopping_) posted_.WaitFor(mu_, kWaitMax);
  batch->accesses.swap(accesses_);
  batch->dropped = std::exchange(dropped_, 0);
  if (stopping_) return false;
  batch->events.swap(events_);
  return true;
}

}  // namespace augur
