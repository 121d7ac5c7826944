// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/mutex.h"

namespace augur {

// Takes the results of reads and lets a test wait for them. Safe from any thread; outlives the reads.
class Collector {
 public:
  // A `done` that notes the result under number `index`.
  std::function<void(int64_t)> Done(size_t index) {
    return [this, index](int64_t result) {
      const MutexLock lock(mu_);
      order_.push_back(index);
      results_.push_back(result);
      changed_.NotifyAll();
    };
  }

  void WaitFor(size_t count) {
    const MutexLock lock(mu_);
    while (order_.size() < count) changed_.Wait(mu_);
  }

  // Numbers and results in the order in which they came.
  std::vector<size_t> order() const {
    const MutexLock lock(mu_);
    return order_;
  }
  std::vector<int64_t> results() const {
    const MutexLock lock(mu_);
    return results_;
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  std::vector<size_t> order_ AUGUR_GUARDED_BY(mu_);
  std::vector<int64_t> results_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
