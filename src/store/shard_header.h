// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/status.h"
#include "augur/store.h"

namespace augur {

// Checks an open shard: its size is that in its row, and an own shard has the header that FORMAT.md section 6 wants.
// Reads the header. kCorrupt, by name and with the cure; kUnsupported: of a newer version.
Status CheckShard(const StoredFile& file, const ShardInfo& info);

}  // namespace augur
