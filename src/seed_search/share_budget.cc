// SPDX-License-Identifier: Apache-2.0
#include "seed_search/share_budget.h"

#include <algorithm>

namespace augur {

void ShareBudget::Pass(Time wall, Time idle, Time own, double share) {
  const Time floor = std::min(account_, -kDebtMax);
  const Time earned(static_cast<Time::rep>(static_cast<double>(wall.count()) * share));
  const Time before = std::max(account_ + earned - idle, floor);
  // What it takes to wake up and look, 20 microseconds a pause, is not work: it would pile up while idle workers have
  // all that the share gives.
  account_ = std::min(may_work_ ? before - own : before, kFull);
  if (account_ >= kFull) may_work_ = true;
  if (account_ <= Time::zero()) may_work_ = false;
}

ShareBudget::Time ShareBudget::Pause(double share) const {
  if (may_work_) return Time::zero();
  const double missing = static_cast<double>((kFull - account_).count()) / share;
  if (missing >= static_cast<double>(kPauseMax.count())) return kPauseMax;
  return std::max(Time(static_cast<Time::rep>(missing) + 1), kPauseMin);
}

}  // namespace augur
