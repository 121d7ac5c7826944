// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/status.h"
#include "augur/store.h"
#include "store/index_reader.h"

namespace augur {

// Row `number` of the shard table, after every check of FORMAT.md section 6 that needs no look at the shard itself.
// `folder` is the store's, for resolving a relative locator. kCorrupt: a rule is broken, with index, shard and defect.
Result<ShardInfo> LoadShard(const IndexReader& index, const std::string& folder, uint32_t number);

}  // namespace augur
