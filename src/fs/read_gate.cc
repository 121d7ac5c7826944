// SPDX-License-Identifier: Apache-2.0
#include "fs/read_gate.h"

#include <utility>

namespace augur {

void ReadGate::Enter(std::function<void()> start) {
  {
    const MutexLock lock(mu_);
    if (permits_ == 0) {
      waiting_.push_back(std::move(start));
      return;
    }
    --permits_;
  }
  start();
}

void ReadGate::Leave() {
  std::function<void()> next;
  {
    const MutexLock lock(mu_);
    if (waiting_.empty()) {
      ++permits_;
      return;
    }
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  next();
}

}  // namespace augur
