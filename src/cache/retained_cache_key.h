// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augur/entry.h"

namespace augur {

// Names the bytes of one block in a RetainedCache for good. Where the memory is shared, nobody may be able to make
// other bytes that have the identity: Store::BlockIdentity has such ones, hashes of records are none.
struct RetainedCacheKey {
  Hash128 identity;
  uint64_t bytes = 0;  // of the block, below 4 GiB
  bool operator==(const RetainedCacheKey&) const = default;
};

}  // namespace augur
