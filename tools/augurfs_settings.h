// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/memory.h"
#include "tools/augurfs_options.h"
#include "tools/copy_memory.h"
#include "tools/prefetch_memory.h"
#include "tools/ring_memory.h"
#include "tools/view_memory.h"

namespace augur {

// What this machine and this user are: the facts on which defaults depend.
struct Machine {
  MemoryRoom memory;
  unsigned cores = 1;
  unsigned ring_queues = 0;    // of FUSE over io_uring; 0: it is not used
  RingMemory kept_rings = {};  // of the mount that is gone on with; depth 0: there are none
  uint32_t uid = 0;
  uint32_t gid = 0;
};

// What the store would have, by the number of its files.
struct StoreNeeds {
  uint64_t prediction_bytes = 0;     // for working out orders (PredictionBytes)
  uint64_t order_bytes = 0;          // for the orders of the epochs that are known ahead
  uint64_t decoded_index_bytes = 0;  // for finding its files in a decoded cache (DiskCacheIndex::kBytesPerFile)
  uint64_t copy_index_bytes = 0;     // for finding its blocks in a disk cache; 0: it needs none
  bool far_away = false;             // it is on a server, so that a fleet may be used
  uint64_t index_bytes = 0;          // of its index in memory, at most (Store::IndexBytesMax)
};

// The options of augurfs with nothing left open.
struct AugurfsSettings {
  uint32_t uid = 0;
  uint32_t gid = 0;
  unsigned threads = 2;
  uint64_t memory_bytes = 0;  // the whole budget
  RingMemory rings;           // depth 0: no FUSE over io_uring
  // Four parts share the rest beside threads, rings and the store's index:
  uint64_t buffer_bytes = 0;  // records that requests read, on their way
  ViewMemory views;
  PrefetchMemory prefetch;
  CopyMemory copy;
  std::vector<std::string> notes;  // where less is used than was asked, and why; for the log
};

// The whole budget on a machine with this memory: the size asked for, else a default, never more than there is.
uint64_t MemoryBudget(const AugurfsOptions& options, const MemoryRoom& memory);

// How much of the budget the index of a store may take.
uint64_t IndexBudget(uint64_t memory_bytes);

// Resolves options on a machine, for a store; pure. kInvalid: the memory is less than anything can work with.
Result<AugurfsSettings> ResolveAugurfs(const AugurfsOptions& options, const Machine& machine, const StoreNeeds& needs);

// How much of the page cache may be left to files that were read and will be again. It is half of what the machine
// could still use now beyond this memory budget; the other half is for all others.
uint64_t PagesForReuse(const MemoryRoom& room, uint64_t memory_bytes);

}  // namespace augur
