// SPDX-License-Identifier: Apache-2.0
#include "http/hedge_policy.h"

#include <algorithm>

namespace augur {

std::chrono::milliseconds HedgePolicy::Threshold() const {
  const std::chrono::milliseconds threshold = sample_count_ < kSamplesMin
                                                  ? rule_.threshold_unknown
                                                  : std::max(rule_.threshold_min, rule_.median_factor * Median());
  return threshold * (1 << doublings_);
}

void HedgePolicy::OnRequest() {
  budget_ = std::min(kBudgetMax, budget_ + rule_.share_max);
  if (budget_ >= kBudgetMax && doublings_ > 0) {
    --doublings_;
    budget_ -= 1;  // the next halving is 20 requests later
  }
}

void HedgePolicy::OnFirstByte(std::chrono::milliseconds time) { samples_[sample_count_++ % kSamples] = time; }

bool HedgePolicy::TryHedge(bool preferred) {
  if (budget_ < 1 + (preferred ? 0 : kReserve)) {
    // One doubling for each time that the budget is used up, not for each request that finds it so.
    if (budget_ < 1 && !exhausted_ && doublings_ < kDoublingsMax) ++doublings_;
    exhausted_ = exhausted_ || budget_ < 1;
    return false;
  }
  exhausted_ = false;
  budget_ -= 1;
  return true;
}

std::chrono::milliseconds HedgePolicy::Median() const {
  std::array<std::chrono::milliseconds, kSamples> sorted = samples_;
  const size_t count = std::min(sample_count_, kSamples);
  const auto middle = sorted.begin() + count / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + count);
  return *middle;
}

}  // namespace augur
