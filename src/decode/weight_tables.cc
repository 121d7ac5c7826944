// SPDX-License-Identifier: Apache-2.0
#include "decode/weight_tables.h"

#include <algorithm>
#include <utility>

namespace augur {

std::shared_ptr<const AxisWeights> WeightTables::Get(const Axis& axis) {
  {
    const MutexLock lock(mu_);
    if (const auto found = kept_.find(axis); found != kept_.end()) {
      found->second.last_used = ++uses_;
      return found->second.weights;
    }
  }
  // Two threads may make the same table; the second one is thrown away.
  auto weights = std::make_shared<const AxisWeights>(axis);
  const size_t bytes = weights->bytes();
  if (bytes > bytes_max_) return weights;
  const MutexLock lock(mu_);
  while (bytes_ + bytes > bytes_max_ || kept_.size() >= kTablesMax) {
    const auto oldest = std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
      return a.second.last_used < b.second.last_used;
    });
    bytes_ -= oldest->second.weights->bytes();
    kept_.erase(oldest);
  }
  const auto [place, added] = kept_.try_emplace(axis, Kept{.weights = weights, .last_used = ++uses_});
  if (added) bytes_ += bytes;
  return place->second.weights;
}

size_t WeightTables::bytes() const {
  const MutexLock lock(mu_);
  return bytes_;
}

}  // namespace augur
