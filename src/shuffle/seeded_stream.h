// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/mutex.h"
#include "shuffle/mt19937.h"

namespace augur {

// SeededStream gives the engine of one seed at any output, and remembers the last place that was asked for: epochs that
// are asked for one after the other do not each begin at output 0, which is 0.1 s away after 100 epochs of a million
// samples. Safe from any thread; holds its lock while it steps.
class SeededStream {
 public:
  explicit SeededStream(uint32_t seed);
  SeededStream(const SeededStream&) = delete;
  SeededStream& operator=(const SeededStream&) = delete;

  // The engine whose next output is number `position`, counted from 0.
  Mt19937 At(uint64_t position) const AUGUR_EXCLUDES(mu_);

 private:
  const uint32_t seed_;

  mutable Mutex mu_;
  // Guarded by mu_: an engine on its way, and the number of its next output.
  mutable Mt19937 engine_ AUGUR_GUARDED_BY(mu_);
  mutable uint64_t position_ AUGUR_GUARDED_BY(mu_) = 0;
};

}  // namespace augur
