// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "augur/store.h"

namespace augur {

// What a look at the shards found, without opening one.
struct ShardCheck {
  uint32_t looked_at = 0;
  uint32_t bad = 0;                // missing, no regular file, or of another size than in the index
  std::vector<std::string> texts;  // of the first bad ones, with the cure
};

// Looks at the size of each shard of the store: at most 10,000, and for no longer than about 2 s, for a shard may be on
// a server. At most `texts_max` texts.
ShardCheck LookAtShards(const Store& store, size_t texts_max);

}  // namespace augur
