// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "augur/status.h"
#include "store/shard_writer.h"

namespace augur {

// The shards that a killed writer of this generation left and that can be gone on with: numbers from `first_number` on
// without a gap, each complete but perhaps the last. Shards that add to another base generation are those of a writer
// that did something else, shards of another version those of another program. Empty when there is nothing to resume.
// Reads their catalogues. A failure: something cannot be read just now, so there may be shards to resume.
Result<std::vector<ShardProgress>> FindProgress(const WriteFolder& folder, uint64_t generation,
                                                uint64_t base_generation, uint32_t first_number);

}  // namespace augur
