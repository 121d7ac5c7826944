// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "augur/status.h"
#include "cache/block_key.h"
#include "cache/buffer_pool.h"
#include "cache/cached_block.h"

namespace augur {

struct CacheCounters {
  uint64_t hits = 0;      // found, or joined a load under way
  uint64_t misses = 0;    // loads started
  uint64_t failures = 0;  // loads that ended with a failure
  uint64_t evicted = 0;   // blocks that left to make room
  uint64_t waits = 0;     // loads that had to wait for memory
};

// RecordCache keeps blocks in memory, least recently used out first, and makes sure that a block is loaded once however
// many ask for it at the same time. Safe from any thread; callbacks run without any lock held, on the caller's thread
// for a hit and on the loader's for a miss. Memory comes from the pool. When it is full, unused blocks are evicted,
// then loads wait in a queue until a block in use is let go. The first in the queue is always served next, so everyone
// makes progress. One cache serves one store: its keys are places. Dropping a BlockRef (or any Buffer of the pool) may
// start such a load on the thread that drops it: hold no lock there that a `load` or `done` takes. A caller that holds
// one block while it waits for another takes up part of the memory that it waits for. So the pool must have room for
// the blocks of all callers that do so at the same time. One cache a pool. REQUIRES: every load has ended and every
// BlockRef is gone before the cache is destroyed. Not for deciding what to read ahead (prefetch).
class RecordCache {
 public:
  using Done = std::function<void(Result<BlockRef>)>;
  // Hands over `buffer` (at least the bytes asked for) to be filled; must lead to exactly one call of `loaded`, on any
  // thread.
  using Loaded = std::function<void(Result<CachedBlock>)>;
  using Load = std::function<void(Buffer buffer, Loaded loaded)>;

  // Where Get found the block.
  enum class Found { kPresent, kLoading, kAbsent };

  // Keeps at most `idle_bytes_max` of buffers that are not in use. What has been read is in the kernel's page cache, so
  // little is needed. A block of a large file must stay until the kernel's next pieces of it have been asked for.
  // Memory that is used again soon is also in the processor's cache, and not touched for the first time.
  explicit RecordCache(BufferPool& pool, uint64_t idle_bytes_max = UINT64_MAX);
  ~RecordCache();
  RecordCache(const RecordCache&) = delete;
  RecordCache& operator=(const RecordCache&) = delete;

  // Present: calls `done` before it returns. Being loaded: `done` is called when that load ends. Absent: gets a buffer
  // of `buffer_bytes` and calls `load`, now or once memory is free. A failed load is told to all who joined it, and is
  // not kept. kNoSpace: the pool cannot hold `buffer_bytes` even when it is empty; `load` is not called. `load` never
  // runs within another `load` on the same thread's stack, but after it, so that a chain of loads needs no deep stack.
  Found Get(const BlockKey& key, size_t buffer_bytes, Load load, Done done);

  // Absent: from now on the caller loads it, into memory of its own, and must call the returned function once, as a
  // Load calls its `loaded`. `done` then gets the block as any other. Present, or being loaded: returns an empty
  // function, and `done` is not called. A chunk is let go with its last BlockRef, never kept idle.
  Loaded Claim(const BlockKey& key, Done done);

  // How many blocks that need `buffer_bytes` each the pool can hold at the same time.
  uint64_t blocks_max(size_t buffer_bytes) const;

  CacheCounters counters() const;
  // Blocks neither in use nor being loaded; a gauge for tests: after a stress every block is idle.
  uint64_t idle_blocks() const;
  uint64_t busy_blocks() const;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace augur
