// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "augur/store.h"
#include "cache/record_cache.h"
#include "control/statistics.h"
#include "io/read_engine.h"
#include "prefetch/planner.h"

namespace augur {

// One file of a Flight.
struct Passenger {
  ReadPlan::Item item;
  Entry entry;
  std::vector<RecordCache::Loaded> claims;  // by block; empty where somebody else was loading it
  std::vector<BlockRef> blocks;             // by block, when ok
  bool ok = false;
};

// Flight is a read of the planner's on its way: neighbours on the disk, read into one chunk of memory, each block
// checked against its hash and offered to the record cache, so that a READ that comes meanwhile waits for this read and
// makes none of its own. When the whole cannot be read, each file is tried by itself: a bad sector fails its own file
// only. Made and taken down by one thread; in between it belongs to the engine's threads.
class Flight : public std::enable_shared_from_this<Flight> {
 public:
  using Landed = std::function<void(const std::shared_ptr<Flight>&)>;

  // `chunk` has room for plan.bytes and twice the alignment. REQUIRES: store, engine and statistics outlive it.
  Flight(const Store& store, ReadEngine& engine, Statistics& statistics, ReadPlan plan, Buffer chunk);
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  // Claims what it reads in the cache and submits the read; `landed` is called once, on a thread of the engine, or
  // before this returns when the shard cannot be opened.
  void Begin(RecordCache& cache, Landed landed);

  const ReadPlan& plan() const { return plan_; }
  std::vector<Passenger>& passengers() { return passengers_; }

 private:
  void Submit(uint64_t offset, uint64_t bytes, std::function<void(bool whole)> done);
  void RetryFrom(size_t passenger);
  void CheckOne(Passenger& passenger);
  void FailOne(Passenger& passenger, const Status& status);

  // Constant after Begin.
  const Store& store_;
  ReadEngine& engine_;
  Statistics& statistics_;
  const ReadPlan plan_;
  const std::shared_ptr<const Buffer> chunk_;
  std::byte* const memory_;
  std::shared_ptr<const ShardFile> shard_;
  uint64_t chunk_begin_ = 0;  // of the shard, at chunk_'s first byte
  Landed landed_;

  // Used by one thread of the engine at a time.
  std::vector<Passenger> passengers_;
};

// Gives the file of a passenger that is ok memory of its own, out of `pool`, so that it does not hold its neighbours'.
// It stays in the cache, for readers. Without memory it stays as it is.
void GiveOwnMemory(Passenger& passenger, BufferPool& pool, RecordCache& cache);

}  // namespace augur
