// SPDX-License-Identifier: Apache-2.0
#include "predict/run_cost.h"

#include <algorithm>

namespace augur {
namespace {

// Core-seconds, at most.
constexpr double kSearchPrice = 60;
constexpr double kPart = 0.01;
// Fewer are rarely trained.
constexpr double kEpochsOfARun = 10;

}  // namespace

double RunCost::WorthOfRun() const {
  return kPart * std::max(seconds, expected_seconds.value_or(kEpochsOfARun * epoch_seconds)) * cores;
}

double RunCost::WorthOfEpoch() const { return std::min(kPart * epoch_seconds * cores, WorthOfRun()); }

bool RunCost::MaySearch() const { return WorthOfRun() - paid >= kSearchPrice; }

bool RunCost::MayAsk(bool first) const { return (first ? WorthOfRun() : WorthOfEpoch()) >= kStagesPrice; }

}  // namespace augur
