// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "augur/store.h"

namespace augur {

// The shards of the generation that is being written, by number; those of the generation that it appends to come first.
// `path` of a row is where this process finds the file.
using ShardRows = std::vector<ShardInfo>;

}  // namespace augur
