// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwy/targets.h>

#include <functional>

namespace augur {

// Runs `body` once with each set of vector instructions that this processor has and the program was compiled for, the
// plain one included, then lets the best be chosen again.
inline void ForEachTarget(const std::function<void()>& body) {
  for (int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
    hwy::SetSupportedTargetsForTest(targets & -targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace augur
