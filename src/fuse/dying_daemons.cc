// SPDX-License-Identifier: Apache-2.0
#include "fuse/dying_daemons.h"

#include <algorithm>
#include <utility>

#include "fuse/held_daemon.h"

namespace augur {

bool DyingDaemons::IsFull() const {
  return std::ranges::all_of(processes_, [](const UniqueFd& one) { return one.valid(); });
}

void DyingDaemons::Add(UniqueFd process, Clock::time_point now, std::chrono::milliseconds pause) {
  UniqueFd* const place = std::ranges::find_if(processes_, [](const UniqueFd& one) { return !one.valid(); });
  if (place != processes_.end()) *place = std::move(process);
  if (due_ && *due_ < now + pause) return;
  pause_ = pause;
  due_ = now + pause;
}

bool DyingDaemons::ResendIsDue(Clock::time_point now) {
  if (!due_) return false;
  bool all_gone = true;
  for (UniqueFd& process : processes_) {
    if (HasEnded(process)) process.Reset();
    all_gone = all_gone && !process.valid();
  }
  if (all_gone) {
    due_.reset();
    return true;
  }
  if (now < *due_) return false;
  pause_ = std::min(2 * pause_, kPauseMax);
  due_ = now + pause_;
  return true;
}

}  // namespace augur
