// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control/statistics.h"
#include "store/shard_source.h"

namespace augur {

// Counts a read of a shard that has ended, also if it failed: its requests of the disk, and the bytes that they
// brought.
inline void CountShardRead(const ShardReadResult& read, Statistics& statistics) {
  statistics.Add(Stat::kDiskReads, read.reads);
  statistics.Add(Stat::kDiskBytes, read.read_bytes);
}

}  // namespace augur
