// SPDX-License-Identifier: Apache-2.0
#include "search/share_budget.h"

#include <algorithm>

namespace augur {

void ShareBudget::Pass(Time wall, Time idle, Time own, double share) {
  const Time floor = std::min(account_, -kDebtMax);
  const Time earned(static_cast<Time::rep>(static_cast<double>(wall.count()) * share));
  account_ = std::clamp(account_ + earned - idle, floor, kFull) - own;
  if (account_ >= kFull) may_work_ = true;
  if (account_ <= Time::zero()) may_work_ = false;
}

ShareBudget::Time ShareBudget::Pause(double share) const {
  if (may_work_) return Time::zero();
  const double missing = static_cast<double>((kFull - account_).count()) / share;
  // A nanosecond more, so that rounding down never leaves it just short of full.
  return missing >= static_cast<double>(kPauseMax.count()) ? kPauseMax : Time(static_cast<Time::rep>(missing) + 1);
}

}  // namespace augur
