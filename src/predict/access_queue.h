// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "control/statistics.h"
#include "readers/access.h"

namespace augur {

// AccessQueue holds the accesses that wait for the thread of the prediction, and the events that other threads post to
// it. Safe from any thread; one thread takes. Adding never waits for that thread. When `accesses_max` accesses wait,
// further ones are dropped and counted (Stat::kAccessesDropped). Events have no maximum: no reader posts one. Each
// search of a job posts one result, and a hint is a request of the control socket.
class AccessQueue {
 public:
  // Take waits no longer than this: as often the OrderTracker looks at the heat of the data and at jobs that have
  // ended. Data is hot after half a second (DataHeat); twice as long a wait would tell that half a second late.
  static constexpr std::chrono::milliseconds kWaitMax{500};

  struct Batch {
    std::vector<Access> accesses;
    uint64_t dropped = 0;  // behind the last of `accesses`
    std::vector<std::function<void()>> events;
  };

  // REQUIRES: `statistics` outlives it.
  AccessQueue(size_t accesses_max, Statistics& statistics) : accesses_max_(accesses_max), statistics_(statistics) {}
  AccessQueue(const AccessQueue&) = delete;
  AccessQueue& operator=(const AccessQueue&) = delete;

  void AddRead(uint32_t view, EntryNumber file, uint32_t reader, uint64_t now_us);
  void AddOpens(uint32_t view, std::span<const EntryNumber> files, uint64_t now_us);
  void Post(std::function<void()> event);
  // Take returns false from now on.
  void Stop();
  bool stopping() const;

  // Waits for an access or an event, kWaitMax at most, and replaces *batch with all that is there. `unhurried`: a few
  // accesses end no wait. False: stopped; then the batch has the last accesses, and no events.
  bool Take(bool unhurried, Batch* batch);

 private:
  void Add(const Access& access) AUGUR_REQUIRES(mu_);

  // Constant after construction.
  const size_t accesses_max_;
  // Own synchronization.
  Statistics& statistics_;

  mutable Mutex mu_;
  CondVar posted_;
  std::vector<Access> accesses_ AUGUR_GUARDED_BY(mu_);  // accesses_max_ at most: further ones are dropped
  uint64_t dropped_ AUGUR_GUARDED_BY(mu_) = 0;          // behind the last of them
  // One for each search that has ended and each hint.
  std::vector<std::function<void()>> events_ AUGUR_GUARDED_BY(mu_);
  bool stopping_ AUGUR_GUARDED_BY(mu_) = false;
  bool unhurried_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
