// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "augur/status.h"
#include "augur/store.h"
#include "store/entry_spool.h"
#include "store/record_store.h"
#include "store/shard_rows.h"

namespace augur {

// The shard table of the store that is appended to.
Status LoadOldShards(const Store& store, ShardRows& shards);

// Spools every entry of the store that is appended to, in path order, with its block hashes, and makes its records in
// own shards findable as duplicates. One walk of the index; of a store of version 1 also one of all its records, for
// their digests. kCorrupt, kIo: one of them cannot be read. kStopped: `stopped`, which may be empty and is asked at
// each entry, was true.
Status LoadOldTree(const Store& store, const ShardRows& shards, EntrySpool& entries, BlockSpool& blocks,
                   RecordStore& records, const std::function<bool()>& stopped);

}  // namespace augur
