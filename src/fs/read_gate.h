// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

#include "base/mutex.h"

namespace augur {

// ReadGate limits how many blocks reads may hold while they wait for one more. Such a block is memory that the others
// wait for. With one fewer of them than the pool has blocks, there is always a block left for whoever comes next, so
// all reads end. A read of n blocks needs n - 1 permits; one of a single block holds nothing while it waits and needs
// none. Safe from any thread; `start` runs without a lock, on the thread of Enter or on that of a Leave. The queue has
// no maximum of its own: the kernel sends as many READs as threads read, and max-background ahead of them.
class ReadGate {
 public:
  explicit ReadGate(size_t permits) : permits_(permits) {}
  ReadGate(const ReadGate&) = delete;
  ReadGate& operator=(const ReadGate&) = delete;

  // Takes `permits` permits and runs `start`: now, or once those before it in the queue have run and as many are given
  // back. Without permits to take, now. REQUIRES: no more than there are in all.
  void Enter(size_t permits, std::function<void()> start);
  // Gives them back.
  void Leave(size_t permits);

 private:
  struct Waiting {
    size_t permits = 0;
    std::function<void()> start;
  };

  Mutex mu_;
  size_t permits_ AUGUR_GUARDED_BY(mu_);
  std::deque<Waiting> waiting_ AUGUR_GUARDED_BY(mu_);  // one for each READ that waits for permits
};

}  // namespace augur
