// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace augur {

// ShareBudget says when the clerk of a Searcher may work and how long it is to sleep, so that it and the idle workers
// together get `share` of one core: an account that grows with time, and from which every second of processor time is
// taken. What the idle workers take beyond the share is forgotten, down to a small debt, so that the clerk is there
// soon after the cores get busy; what the clerk itself takes is never forgotten. Clock-free; for one thread.
class ShareBudget {
 public:
  using Time = std::chrono::nanoseconds;

  // The clerk works until the account is empty and sleeps until it holds this much: a turn as long as the kernel's own
  // slices (3 ms), so that the job that it displaces is not interrupted more often than by another process.
  static constexpr Time kFull = std::chrono::milliseconds(3);
  // The idle workers' debt at most: with a share of 0.25 paid back in 0.2 s.
  static constexpr Time kDebtMax = std::chrono::milliseconds(50);
  // How long the clerk sleeps at a time. At least: it wakes up (20 microseconds) in vain while the idle workers earn
  // most of the share.
  static constexpr Time kPauseMin = std::chrono::milliseconds(1);
  // At most: a change among the idle workers may stay unnoticed for so long.
  static constexpr Time kPauseMax = std::chrono::milliseconds(100);

  // `wall` has passed, in which the idle workers and the clerk took so much processor time.
  void Pass(Time wall, Time idle, Time own, double share);
  // True from a full account to an empty one.
  bool MayWork() const { return may_work_; }
  // How long until the account is full, from kPauseMin to kPauseMax; 0 while it may work. REQUIRES: share > 0.
  Time Pause(double share) const;

 private:
  Time account_{0};
  bool may_work_ = false;
};

}  // namespace augur
