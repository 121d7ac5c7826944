// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "samplers/sampler.h"

namespace augur {

inline constexpr size_t kAll = std::numeric_limits<size_t>::max();

// The first `count` indices of an epoch, put over what was there before.
inline IndexOrder Taken(const Sampler& sampler, uint64_t samples, uint64_t epoch = 0, size_t count = kAll) {
  IndexOrder indices = {99};
  sampler.Take(samples, epoch, count, &indices);
  return indices;
}

}  // namespace augur
