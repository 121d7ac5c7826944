// SPDX-License-Identifier: Apache-2.0
#include "s3/renewal_schedule.h"

#include <algorithm>

namespace augur {

void RenewalSchedule::Succeeded(UtcTime now, std::optional<UtcTime> expiration) {
  failed_.reset();
  pause_ = std::chrono::seconds(0);
  due_.reset();
  if (!expiration) return;
  const std::chrono::seconds life = *expiration - now;
  due_ = *expiration - std::min<std::chrono::seconds>(kLead, life / 2);
}

void RenewalSchedule::Failed(UtcTime now) {
  failed_ = now;
  pause_ = std::clamp<std::chrono::seconds>(2 * pause_, kFirstPause, kPauseMax);
  // What does not expire is not renewed by itself.
  if (due_) due_ = now + pause_;
}

bool RenewalSchedule::MayTry(UtcTime now) const { return !failed_ || now < *failed_ || now >= *failed_ + pause_; }

}  // namespace augur
