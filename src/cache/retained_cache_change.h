// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "cache/retained_cache_layout.h"

namespace augur {

// Marks the tables of a retained cache as half changed for a scope. What a killed process leaves is what its
// instructions before the kill have stored, in the order of the program as compiled. The next holder of the lock sees
// all of it, as lock and unlock are system calls. So the compiler alone must be kept from moving stores past the flag.
// The flag of an outer scope stays.
class RetainedCacheChange {
 public:
  explicit RetainedCacheChange(RetainedCacheHeader& header) : header_(header), before_(header.torn.Load()) {
    header_.torn.Store(1);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~RetainedCacheChange() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    header_.torn.Store(before_);
  }
  RetainedCacheChange(const RetainedCacheChange&) = delete;
  RetainedCacheChange& operator=(const RetainedCacheChange&) = delete;
  // Leaves the flag set: the next holder of the lock rebuilds.
  void Spoil() { before_ = 1; }
  void Whole() { before_ = 0; }

 private:
  RetainedCacheHeader& header_;
  uint32_t before_;
};

}  // namespace augur
