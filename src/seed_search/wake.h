// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <semaphore.h>

#include <chrono>
#include <ctime>

namespace augur {

// Wake wakes one thread that waits for it, now or later: a semaphore. Unlike a condition variable it has no mutex that
// a thread of the idle class could lose its core with. Safe from any thread. Not a carrier of data: that goes through
// atomics.
class Wake {
 public:
  Wake() { sem_init(&semaphore_, 0, 0); }
  ~Wake() { sem_destroy(&semaphore_); }
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  void Post() { sem_post(&semaphore_); }
  // May return without cause, when a signal handler ran: loop on the condition.
  void Wait() { sem_wait(&semaphore_); }
  // Until woken or `time` has passed.
  void WaitFor(std::chrono::nanoseconds time) {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    const auto end = std::chrono::seconds(until.tv_sec) + std::chrono::nanoseconds(until.tv_nsec) + time;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(end);
    until.tv_sec = seconds.count();
    until.tv_nsec = (end - seconds).count();
    sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until);
  }

 private:
  sem_t semaphore_;
};

}  // namespace augur
