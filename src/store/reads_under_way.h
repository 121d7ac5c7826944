// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/mutex.h"

namespace augur {

// ReadsUnderWay counts the reads of a ShardSource that have begun and not ended, so that it can wait for them. Safe
// from any thread.
class ReadsUnderWay {
 public:
  void Begin() AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    ++count_;
  }
  // To be called after the read's `done`. The source may be gone when it returns. REQUIRES: as many calls of Begin.
  void End() AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    if (--count_ == 0) ended_.NotifyAll();
  }
  void WaitForAll() AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    while (count_ > 0) ended_.Wait(mu_);
  }

 private:
  Mutex mu_;
  CondVar ended_;
  uint64_t count_ AUGUR_GUARDED_BY(mu_) = 0;
};

}  // namespace augur
