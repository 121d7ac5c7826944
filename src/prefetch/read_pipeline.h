// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cache/buffer_pool.h"
#include "cache/record_cache.h"
#include "cache/sealable_buffer.h"
#include "prefetch/batch_read.h"
#include "prefetch/event_queue.h"
#include "prefetch/planner.h"
#include "prefetch/pushed_pages.h"
#include "prefetch/retained_files.h"
#include "prefetch/staged_files.h"
#include "prefetch/view_files.h"
#include "prefetch/view_source.h"

namespace augur {

// ReadPipeline carries out the reads that the planner of a view decides. It takes memory, reads records, has files
// rendered from them, and brings the files to the staging and the retained cache. Used by the planning thread only.
// REQUIRES: what it is given outlives it, and it is not busy when it ends.
class ReadPipeline {
 public:
  struct Means {
    BatchRead::Means batch;
    RecordCache& cache;
    BufferPool& memory;
    ViewSource* views;  // nullptr: no file is rendered
    EventQueue& events;
  };
  ReadPipeline(const Means& means, const ViewFiles& files, Planner& planner, StagedFiles& staged,
               RetainedFiles& retained, PushedPages& pages)
      : means_(means), files_(files), planner_(planner), staged_(staged), retained_(retained), pages_(pages) {}
  ReadPipeline(const ReadPipeline&) = delete;
  ReadPipeline& operator=(const ReadPipeline&) = delete;

  // Begins all reads that the planner wants now and that have memory.
  void Start();
  // A reader waits for this file: if a read under way brings it, that one goes first.
  void Hurry(EntryNumber file) const;
  // Some memory was let go.
  void OnFreed() { refused_ = false; }

  uint64_t batch_reads() const { return under_way_.size(); }
  bool busy() const { return !under_way_.empty() || renderings_ > 0; }

 private:
  // For files that are rendered from their records.
  using Memories = std::unordered_map<EntryNumber, std::shared_ptr<SealableBuffer>>;

  bool Allocate(const ReadPlan& plan, Buffer* chunk, Memories* memories);
  bool AlreadyRetained(const ReadPlan& plan);
  bool AlreadyRendered(const ReadPlan& plan) const;
  void Read(const ReadPlan& plan, Buffer chunk, const Memories& memories);
  void OnReadDone(BatchRead& read, const Memories& memories);
  void RenderWithoutRecords(const ReadPlan& plan, const Memories& memories);
  void Render(const ReadPlan::Item& item, const ViewFile& file, std::vector<BlockRef> record,
              const std::shared_ptr<SealableBuffer>& memory);
  void Take(const ViewFile& file, std::vector<BlockRef> blocks, const Arrival& arrival);

  // Constant after construction.
  const Means means_;
  const ViewFiles& files_;

  Planner& planner_;
  StagedFiles& staged_;
  RetainedFiles& retained_;
  PushedPages& pages_;
  std::unordered_set<const BatchRead*> under_way_;
  uint64_t renderings_ = 0;
  bool refused_ = false;  // no memory for a read: until some is let go
};

}  // namespace augur
