// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augur/entry.h"

namespace augur {

// Names the bytes of one block in a RetainedCache for good. Where the memory is shared, it must be impossible to
// make other bytes with the same identity: Store::BlockIdentity is such an identity, the XXH3 of a record is none.
struct RetainedCacheKey {
  Hash128 identity;
  uint64_t bytes = 0;  // of the block, below 4 GiB
  bool operator==(const RetainedCacheKey&) const = default;
};

}  // namespace augur
