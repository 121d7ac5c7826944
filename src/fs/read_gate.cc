// SPDX-License-Identifier: Apache-2.0
#include "fs/read_gate.h"

#include <vector>

namespace augur {

void ReadGate::Enter(size_t permits, std::function<void()> start) {
  if (permits > 0) {
    const MutexLock lock(mu_);
    if (!waiting_.empty() || permits_ < permits) {
      waiting_.push_back({.permits = permits, .start = std::move(start)});
      return;
    }
    permits_ -= permits;
  }
  start();
}

void ReadGate::Leave(size_t permits) {
  std::vector<std::function<void()>> next;
  {
    const MutexLock lock(mu_);
    permits_ += permits;
    while (!waiting_.empty() && waiting_.front().permits <= permits_) {
      permits_ -= waiting_.front().permits;
      next.push_back(std::move(waiting_.front().start));
      waiting_.pop_front();
    }
  }
  for (const std::function<void()>& start : next) start();
}

}  // namespace augur
