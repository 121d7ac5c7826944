// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/mutex.h"

namespace augur {

// EventQueue has the events that the planning thread has not seen yet, in their order. Safe from any thread; one thread
// takes events out. Posting never waits. An event that was never taken ends with the queue.
//
// Readers post accesses. When accesses_max of them wait, the queue refuses further ones; it may exceed that by one list
// of opens. All other events must not be lost:
// - A read, rendering, push, drop, copy or stat posts its end once. The planning thread alone begins them.
// - A buffer of the prefetch posts once, when it is released.
// - The OrderPredictor posts as it finds orders, PredictedFilesMax files at a time. How many of them may wait has no
//   maximum.
// - A client of the control socket posts one order or drop a request: those of one order have room in OrderFilesMax.
class EventQueue {
 public:
  using Event = std::function<void()>;

  explicit EventQueue(uint64_t accesses_max) : accesses_max_(accesses_max) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  void Post(Event event);
  // An event that tells of `count` accesses of readers. The planner can do without it: a later access also shows where
  // the reader is. False: accesses_max accesses wait, and this event was dropped.
  [[nodiscard]] bool PostAccesses(Event event, uint64_t count);
  // An event for whose effect the caller waits: if accepted, it is taken. False: no thread takes events now.
  [[nodiscard]] bool PostIfOpen(Event event);

  // A thread takes events from now on ...
  void Open();
  // ... until this event, which is the last that PostIfOpen has accepted or comes after it.
  void Close(Event last);

  // Waits for events and takes all of them.
  std::deque<Event> Take();

 private:
  void Push(Event event) AUGUR_REQUIRES(mu_);

  // Constant after construction.
  const uint64_t accesses_max_;

  Mutex mu_;
  CondVar posted_;
  // At most accesses_max_ accesses, and one list of opens more. Of the others one for each that the class comment
  // names.
  std::deque<Event> events_ AUGUR_GUARDED_BY(mu_);
  uint64_t accesses_ AUGUR_GUARDED_BY(mu_) = 0;  // of the events in events_
  bool open_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
