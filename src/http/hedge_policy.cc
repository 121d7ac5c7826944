// SPDX-License-Identifier: Apache-2.0
#include "http/hedge_policy.h"

#include <algorithm>
#include <cstdint>

namespace augur {

namespace {

constexpr double kMib = 1 << 20;

std::chrono::milliseconds Milliseconds(double ms) { return std::chrono::milliseconds(static_cast<int64_t>(ms)); }

}  // namespace

std::chrono::milliseconds HedgePolicy::Threshold() const {
  if (!first_bytes_.known()) return Doubled(rule_.threshold_unknown);
  return Doubled(std::max(rule_.threshold_min, Milliseconds(rule_.median_factor * first_bytes_.MedianMs())));
}

std::chrono::milliseconds HedgePolicy::WholeThreshold(size_t bytes) const {
  if (!whole_mib_.known()) return Doubled(rule_.whole_unknown);
  const double mib = static_cast<double>(std::max(bytes, kWholeBytesMin)) / kMib;
  return Doubled(std::max(rule_.threshold_min, Milliseconds(rule_.whole_factor * whole_mib_.MedianMs() * mib)));
}

void HedgePolicy::OnRequest() {
  budget_ = std::min(kBudgetMax, budget_ + rule_.share_max);
  if (budget_ >= kBudgetMax && doublings_ > 0) {
    --doublings_;
    budget_ -= 1;  // the next halving is 20 requests later
  }
}

void HedgePolicy::OnFirstByte(std::chrono::milliseconds time) { first_bytes_.Add(static_cast<double>(time.count())); }

void HedgePolicy::OnWhole(std::chrono::milliseconds time, size_t bytes) {
  if (bytes < kWholeBytesMin) return;
  whole_mib_.Add(static_cast<double>(time.count()) / (static_cast<double>(bytes) / kMib));
}

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

double HedgePolicy::Times::MedianMs() const {
  std::array<double, kSamples> sorted = samples_;
  const size_t count = std::min(count_, kSamples);
  const auto middle = sorted.begin() + static_cast<ptrdiff_t>(count / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<ptrdiff_t>(count));
  return *middle;
}

}  // namespace augur
