// SPDX-License-Identifier: Apache-2.0
#include "prefetch/event_queue.h"

#include <utility>

namespace augur {

void EventQueue::Push(Event event) {
  if (events_.empty()) posted_.NotifyOne();
  events_.push_back(std::move(event));
}

void EventQueue::Post(Event event) {
  const MutexLock lock(mu_);
  Push(std::move(event));
}

bool EventQueue::PostAccesses(Event event, uint64_t count) {
  const MutexLock lock(mu_);
  if (accesses_ >= accesses_max_) return false;
  accesses_ += count;
  Push(std::move(event));
  return true;
}

bool EventQueue::PostIfOpen(Event event) {
  const MutexLock lock(mu_);
  if (open_) Push(std::move(event));
  return open_;
}

void EventQueue::Open() {
  const MutexLock lock(mu_);
  open_ = true;
}

void EventQueue::Close(Event last) {
  const MutexLock lock(mu_);
  open_ = false;
  Push(std::move(last));
}

std::deque<EventQueue::Event> EventQueue::Take() {
  std::deque<Event> taken;
  const MutexLock lock(mu_);
  while (events_.empty()) posted_.Wait(mu_);
  taken.swap(events_);
  accesses_ = 0;
  return taken;
}

}  // namespace augur
