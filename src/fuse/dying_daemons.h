// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include "base/unique_fd.h"

namespace augur {

// DyingDaemons are daemons of a mount that have died or handed it over, and may not be gone yet. A thread of such a one
// may still take a request, and die with it. So the kernel is to hand out again what no living daemon will answer. It
// does so in pauses that grow, as this costs the daemon that serves a read again, and for the last time when all are
// gone.
//
// One thread. Allocates nothing, waits for nothing.
class DyingDaemons {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMax = 8;
  static constexpr std::chrono::milliseconds kPauseMax{5000};

  bool IsFull() const;
  // Takes the pidfd of one more; not when it is full. The first pause ends at `now` + `pause` at the latest.
  void Add(UniqueFd process, Clock::time_point now, std::chrono::milliseconds pause);
  // Whether the kernel is to hand out requests again now.
  bool ResendIsDue(Clock::time_point now);
  // When that is to be asked next, unless one of the processes ends before.
  std::optional<Clock::time_point> due() const { return due_; }
  // Their pidfds; some places are invalid.
  std::span<const UniqueFd> processes() const { return processes_; }

 private:
  std::array<UniqueFd, kMax> processes_;
  std::optional<Clock::time_point> due_;  // none: all are gone, and what they had was handed out again
  std::chrono::milliseconds pause_{};
};

}  // namespace augur
