// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "augur/store.h"
#include "base/aligned_memory.h"
#include "cache/record_cache.h"
#include "cache/sealable_buffer.h"
#include "control/statistics.h"
#include "prefetch/planner.h"
#include "prefetch/read_failures.h"
#include "store/shard_source.h"

namespace augur {

// One file of a BatchRead.
struct RecordRead {
  ReadPlan::Item item;
  Entry entry;
  std::vector<RecordCache::Loaded> claims;  // by block; empty where another thread loads it
  std::vector<BlockRef> blocks;             // by block, when ok; none where the index has no such file
  bool claimed = true;                      // no other thread loads any of them
  bool ok = false;
};

// BatchRead is a read of the planner's that is under way: neighbours on the disk, read into one chunk of memory. Each
// block is checked against its hash and offered to the record cache, so a READ that comes meanwhile waits for this read
// and makes none of its own. When the whole cannot be read, each file is tried by itself: a bad sector fails its own
// file only. Made and taken down by one thread, which never waits for the disk; in between it belongs to the threads of
// the source, one at a time.
class BatchRead : public std::enable_shared_from_this<BatchRead> {
 public:
  using Done = std::function<void(const std::shared_ptr<BatchRead>&)>;

  // What it reads with; outlives it.
  struct Means {
    const Store& store;
    ShardSource& source;
    Statistics& statistics;
  };

  // `chunk` has ShardSource::RoomFor(plan.bytes).
  BatchRead(const Means& means, ReadPlan plan, Buffer chunk);
  BatchRead(const BatchRead&) = delete;
  BatchRead& operator=(const BatchRead&) = delete;

  // Claims what it reads in the cache and begins; `done` is called once, on a thread of the source, or before this
  // returns.
  void Begin(RecordCache& cache, Done done);

  const ReadPlan& plan() const { return plan_; }
  std::vector<RecordRead>& records() { return records_; }
  // The disk or the server was asked, and not only a nearer copy. REQUIRES: it is done.
  bool asked() const { return asked_; }

 private:
  void ReadWhole(uint32_t shard);
  void WholeRead(const ShardReadResult& read);
  void Count(const ShardReadResult& read);
  void ReadAlone(size_t record, uint64_t block);
  void BlockRead(size_t record, uint64_t block, const ShardReadResult& read);
  // Of a block of a record, in the chunk.
  size_t PlaceOf(const RecordRead& record, uint64_t block) const;
  void CheckOne(RecordRead& record);
  static void FailOne(RecordRead& record, const Status& status);

  // Constant once the shard is open.
  const Means means_;
  const ReadFailures failures_;
  const ReadPlan plan_;
  const std::shared_ptr<SealableBuffer> chunk_;
  Done done_;

  // Used by one thread at a time.
  std::vector<RecordRead> records_;
  std::vector<WantedBlock> wanted_;  // of all records, in the order of their places
  bool asked_ = false;
  uint64_t skip_ = 0;                               // plan_.offset is so far in the chunk
  std::optional<SealableBuffer::Writing> writing_;  // of the whole, under way
  AlignedMemory alone_;                             // for one block, where the whole could not be read
};

// Gives the file of a record that is ok memory of its own, out of `pool`, so that it does not hold its neighbours'.
// It stays in the cache, for readers. Without memory it stays as it is.
void CopyToOwnMemory(RecordRead& record, BufferPool& pool, RecordCache& cache);

}  // namespace augur
