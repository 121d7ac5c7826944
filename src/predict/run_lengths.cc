// SPDX-License-Identifier: Apache-2.0
#include "predict/run_lengths.h"

#include <algorithm>
#include <vector>

namespace augur {

void RunLengths::Ended(uint64_t reads, double seconds) {
  ended_.push_back({.reads = reads, .seconds = seconds});
  if (ended_.size() > kRemembered) ended_.pop_front();
}

std::optional<double> RunLengths::ExpectedSeconds(uint64_t reads) const {
  std::vector<double> as_long;
  for (const Length& length : ended_) {
    if (length.reads >= reads) as_long.push_back(length.seconds);
  }
  if (as_long.size() < kEnough) return std::nullopt;
  const auto middle = as_long.begin() + static_cast<std::ptrdiff_t>(as_long.size() / 2);
  std::ranges::nth_element(as_long, middle);
  return *middle;
}

}  // namespace augur
