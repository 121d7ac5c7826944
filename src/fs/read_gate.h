// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>

#include "base/mutex.h"

namespace augur {

// ReadGate limits how many reads may hold one block while they wait for another. Each such read keeps memory that the
// others wait for: with one fewer of them than the pool has blocks there is always a block left for whoever comes next,
// so all of them end. Reads of a single block hold nothing while they wait and need no permit. Safe from any thread;
// `start` runs without a lock, on the thread of Enter or on that of a Leave.
class ReadGate {
 public:
  explicit ReadGate(size_t permits) : permits_(permits) {}
  ReadGate(const ReadGate&) = delete;
  ReadGate& operator=(const ReadGate&) = delete;

  // Takes a permit and runs `start`: now, or once those before it in the queue have run and one is given back.
  void Enter(std::function<void()> start);
  // Gives a permit back.
  void Leave();

 private:
  Mutex mu_;
  size_t permits_ AUGUR_GUARDED_BY(mu_);
  std::deque<std::function<void()>> waiting_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
