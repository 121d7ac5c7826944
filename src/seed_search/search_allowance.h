// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace augur {

// SearchAllowance is the processor time that the searches of one run may take. Jobs that share it stop when it is
// spent. Safe from any thread, without a lock.
class SearchAllowance {
 public:
  explicit SearchAllowance(double core_seconds) : all_ns_(static_cast<int64_t>(core_seconds * 1e9)) {}

  // A search has taken `time` more.
  void Take(std::chrono::nanoseconds time) { taken_ns_.fetch_add(time.count(), std::memory_order_relaxed); }
  bool spent() const { return taken_ns_.load(std::memory_order_relaxed) >= all_ns_; }
  // All of it may be taken again.
  void Renew() { taken_ns_.store(0, std::memory_order_relaxed); }
  double core_seconds() const { return static_cast<double>(all_ns_) / 1e9; }

 private:
  const int64_t all_ns_;
  std::atomic<int64_t> taken_ns_{0};
};

}  // namespace augur
