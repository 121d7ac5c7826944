// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "augur/store.h"
#include "cache/record_cache.h"
#include "cache/sealable_buffer.h"
#include "control/statistics.h"
#include "io/read_engine.h"
#include "prefetch/planner.h"
#include "prefetch/read_failures.h"
#include "store/shard_opener.h"

namespace augur {

// One file of a BatchRead.
struct RecordRead {
  ReadPlan::Item item;
  Entry entry;
  std::vector<RecordCache::Loaded> claims;  // by block; empty where somebody else was loading it
  std::vector<BlockRef> blocks;             // by block, when ok; none where the index has no such file
  bool ok = false;
};

// BatchRead is a read of the planner's on its way: neighbours on the disk, read into one chunk of memory, each block
// checked against its hash and offered to the record cache, so that a READ that comes meanwhile waits for this read and
// makes none of its own. When the whole cannot be read, each file is tried by itself: a bad sector fails its own file
// only. Made and taken down by one thread, which never waits for the disk; in between it belongs to the threads of the
// opener and the engine, one at a time.
class BatchRead : public std::enable_shared_from_this<BatchRead> {
 public:
  using Landed = std::function<void(const std::shared_ptr<BatchRead>&)>;

  // What it reads with; outlives it.
  struct Means {
    const Store& store;
    ShardOpener& opener;
    ReadEngine& engine;
    Statistics& statistics;
  };

  // `chunk` has room for plan.bytes and twice the alignment.
  BatchRead(const Means& means, ReadPlan plan, Buffer chunk);
  BatchRead(const BatchRead&) = delete;
  BatchRead& operator=(const BatchRead&) = delete;

  // Claims what it reads in the cache and begins; `landed` is called once, on a thread of the engine or of the opener,
  // or before this returns.
  void Begin(RecordCache& cache, Landed landed);

  const ReadPlan& plan() const { return plan_; }
  std::vector<RecordRead>& passengers() { return records_; }

 private:
  // A read of whole sectors of which a part is wanted; offsets in the shard.
  struct Step {
    uint64_t begin = 0;  // multiples of the alignment
    uint64_t end = 0;
    uint64_t wanted_begin = 0;
    uint64_t wanted_end = 0;
    bool aside = false;  // into memory beside the chunk, since a neighbour's part of the sector is sealed
  };
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  void ReadWhole(Result<Extent> located);
  void Submit(const Step& step, std::function<void(int64_t result)> done);
  void RetryFrom(size_t record);
  void RetryNext(size_t record);
  std::deque<Step> StepsOf(const FilePlace& place) const;
  bool HasSealed(uint64_t begin, uint64_t end) const;
  void CheckOne(RecordRead& record);
  static void FailOne(RecordRead& record, const Status& status);
  void FailAll(const Status& status);

  // Constant once the shard is open.
  const Means means_;
  const ReadFailures failures_;
  const ReadPlan plan_;
  const std::shared_ptr<SealableBuffer> chunk_;
  std::shared_ptr<const ShardFile> shard_;
  uint64_t chunk_begin_ = 0;  // of the shard, at chunk_'s first byte
  Landed done_;

  // Used by one thread at a time.
  std::vector<RecordRead> records_;
  std::optional<SealableBuffer::Writing> writing_;   // of the read under way
  std::deque<Step> steps_;                           // that are left of the file that is read by itself
  std::unique_ptr<std::byte, Free> inactive_pages_;  // one sector
};

// Gives the file of a record that is ok memory of its own, out of `pool`, so that it does not hold its neighbours'.
// It stays in the cache, for readers. Without memory it stays as it is.
void GiveOwnMemory(RecordRead& record, BufferPool& pool, RecordCache& cache);

}  // namespace augur
