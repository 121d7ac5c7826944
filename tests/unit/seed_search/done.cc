// SPDX-License-Identifier: Apache-2.0
#include "unit/seed_search/done.h"

namespace augur {

std::function<void(const SearchOutcome&)> Done::Callback() {
  return [promise = promise_](const SearchOutcome& outcome) { promise->set_value(outcome); };
}

}  // namespace augur
