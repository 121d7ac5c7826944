// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/mutex.h"

namespace augur {

// EventQueue has the events that the planning thread has not seen yet, in their order. Safe from any thread; one thread
// takes events out. Nobody waits to post one. An event that was never taken ends with the queue.
//
// Readers post hints, of which hints_max wait here, and one list of opens more. All other events must not be lost, and
// each kind has a maximum:
// - A read, making, push, drop, copy or stat posts its end once, and the planning thread alone begins them.
// - A buffer of the prefetch posts once when it is let go.
// - The OrderPredictor posts as it finds orders, PredictedFilesMax files at a time.
// - A client of the control socket posts one order or drop a request: those of one order have room in OrderFilesMax.
class EventQueue {
 public:
  using Event = std::function<void()>;

  explicit EventQueue(uint64_t hints_max) : hints_max_(hints_max) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  void Post(Event event);
  // A hint says what readers do: `count` reads or opens. The planner does without a hint that was dropped: the reader
  // moves on by the next one. False: hints_max wait, and this one was dropped.
  [[nodiscard]] bool PostHint(Event hint, uint64_t count);
  // An event that is taken for certain: its poster waits for it. False: nobody takes events now.
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
  const uint64_t hints_max_;

  Mutex mu_;
  CondVar posted_;
  std::deque<Event> events_ AUGUR_GUARDED_BY(mu_);
  uint64_t hints_ AUGUR_GUARDED_BY(mu_) = 0;  // reads and opens of those in events_
  bool open_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
