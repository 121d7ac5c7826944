// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "augur/store.h"
#include "cache/record_cache.h"
#include "cache/retained_cache.h"
#include "control/statistics.h"
#include "io/read_engine.h"
#include "prefetch/read_failures.h"
#include "prefetch/read_observer.h"
#include "prefetch/retained_blocks.h"
#include "prefetch/view_file.h"
#include "store/shard_source.h"

namespace augur {

// BlockReader brings blocks of records from the shards into the record cache, each checked against its hash on the way.
// Safe from any thread; never waits for the disk. REQUIRES: store, source, cache, statistics, retained and observer
// outlive it, and every Get has ended before it is destroyed. Not for knowing which bytes of which block a read wants
// (FileReader).
class BlockReader {
 public:
  // What a block takes of the pool at most.
  static constexpr size_t kBufferBytesMax = ShardSource::RoomFor(kBlockBytes);

  // `retained`: the retained cache; nullptr: there is none. `observer` may be nullptr.
  BlockReader(std::shared_ptr<const Store> store, ShardSource& source, RecordCache& cache, Statistics& statistics,
              RetainedBlocks* retained, ReadObserver* observer);
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  // What the block is for: to be read, or to make something else of it, so that it is not worth keeping.
  enum class Use { kRead, kRender };

  // Hands over block `block` of `file`, from the cache or from the disk. Failures: kCorrupt (the bytes are not those
  // that were packed, or the shard is missing or has another size), kIo, kNoSpace (the budget cannot hold one block).
  // ReadFailures tells of a failed load once, however many asked; not of kNoSpace. Wrong bytes of a server are read
  // once more before they are a failure. REQUIRES: block < Store::BlockCount(file).
  void Get(const Entry& file, uint64_t block, Use use, RecordCache::Done done);
  // A block of a file of any view, where the retained cache has it, without a copy. Nothing: it is not kept.
  std::optional<RetainedCache::Pin> FindRetained(const ViewFile& file, uint64_t block) const;

  const ReadFailures& failures() const { return failures_; }

 private:
  // A block on its way from the shard to those who wait for it.
  struct Loading {
    WantedBlock wanted;
    Use use = Use::kRead;
    Buffer buffer;
    RecordCache::Loaded loaded;
  };

  RecordCache::Found Ask(const Entry& file, uint64_t block, Use use, const std::shared_ptr<bool>& own,
                         RecordCache::Done done);
  void Load(std::shared_ptr<Loading> loading);
  void Read(std::shared_ptr<Loading> loading, bool again);
  void Finish(const std::shared_ptr<Loading>& loading, const ShardReadResult& read, bool again);

  // Constant after construction; each has its own synchronization.
  const std::shared_ptr<const Store> store_;
  ShardSource& source_;
  RecordCache& cache_;
  Statistics& statistics_;
  const ReadFailures failures_;
  RetainedBlocks* const retained_;
  ReadObserver* const observer_;
};

}  // namespace augur
