// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace augur {

// RecentDeaths are the deaths of daemons that count as their own fault. One thread. Allocates nothing.
class RecentDeaths {
 public:
  using Clock = std::chrono::steady_clock;
  // kMax deaths within kWithin are too many: the next daemon would die of the same.
  static constexpr size_t kMax = 3;
  static constexpr std::chrono::seconds kWithin{10};

  // Notes one; returns whether there are too many now.
  bool Add(Clock::time_point now) {
    deaths_[count_++ % kMax] = now;
    // The oldest one is where the next will be.
    return count_ >= kMax && now - deaths_[count_ % kMax] <= kWithin;
  }

 private:
  std::array<Clock::time_point, kMax> deaths_{};
  uint64_t count_ = 0;
};

}  // namespace augur
