// SPDX-License-Identifier: Apache-2.0
#include "http/concurrency_limit.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace augur {

ConcurrencyLimit::ConcurrencyLimit(int lowest, int start, int highest)
    : lowest_(lowest), highest_(highest), value_(std::clamp(start, lowest, highest)) {
  AUGUR_CHECK(1 <= lowest && lowest <= highest);
}

void ConcurrencyLimit::OnInterval(bool reached, double bytes) {
  if (deaf_ > 0) --deaf_;
  if (!reached) return;
  if (fast_) {
    OnFastInterval(bytes);
  } else {
    OnSteadyInterval(bytes);
  }
}

void ConcurrencyLimit::OnThrottled() {
  if (deaf_ > 0) return;
  deaf_ = kIntervalsPerSecond;
  SetValue(value_ / 2);
  BeginSteady(0, kIntervalsPerSecond);
}

void ConcurrencyLimit::OnFastInterval(double bytes) {
  if (bytes > kSettled * std::exchange(last_bytes_, bytes)) return;
  last_bytes_ = 0;
  if (base_ != 0 && !Paid(bytes)) {
    SetValue(base_);
    BeginSteady(base_bytes_, static_cast<int>(kHold / kInterval));
    return;
  }
  base_ = value_;
  base_bytes_ = bytes;
  SetValue(value_ + std::max(1, value_ / 2));
}

void ConcurrencyLimit::OnSteadyInterval(double bytes) {
  if (hold_ > 0) {
    --hold_;
    // The latest rate with this limit is what a growth is compared with.
    if (value_ == base_) base_bytes_ = bytes;
    return;
  }
  if (value_ > base_ && (value_ == highest_ || value_ - base_ >= std::max(1, base_ / 4))) {
    if (Paid(bytes)) {
      BeginSteady(bytes, kIntervalsPerSecond);
    } else {
      SetValue(base_);
      BeginSteady(0, static_cast<int>(kHold / kInterval));
    }
    return;
  }
  SetValue(value_ + 1);
  hold_ = kIntervalsPerSecond - 1;
}

bool ConcurrencyLimit::Paid(double bytes) const {
  const double growth = static_cast<double>(value_) / base_ - 1;
  return bytes >= base_bytes_ * (1 + kPays * growth);
}

void ConcurrencyLimit::SetValue(int value) { value_ = std::clamp(value, lowest_, highest_); }

void ConcurrencyLimit::BeginSteady(double bytes, int hold) {
  fast_ = false;
  base_ = value_;
  base_bytes_ = bytes;
  hold_ = hold;
}

}  // namespace augur
