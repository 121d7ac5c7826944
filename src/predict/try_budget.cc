// SPDX-License-Identifier: Apache-2.0
#include "predict/try_budget.h"

#include <algorithm>

namespace augur {

bool TryBudget::MayTry(uint64_t now_us) {
  if (now_us_ != 0 && now_us > now_us_) {
    account_ = std::min(kFullSeconds, account_ + kShare * static_cast<double>(now_us - now_us_) / 1e6);
  }
  now_us_ = std::max(now_us_, now_us);
  return account_ > 0;
}

void TryBudget::Pay(double seconds) { account_ -= seconds; }

}  // namespace augur
