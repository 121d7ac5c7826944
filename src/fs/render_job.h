// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "base/recycled_memory.h"
#include "cache/cached_block.h"
#include "cache/sealable_buffer.h"
#include "fs/rendered_cache.h"
#include "fs/rendered_file.h"
#include "fs/view_table.h"
#include "prefetch/view_file.h"

namespace augur {

// RenderJob is a file of a view that is being rendered: its record, its result, and who waits for it. One stage of
// RenderedFiles has it at a time. Fields that several stages look at are named below; RenderedFiles guards them by its
// lock.
struct RenderJob {
  // `its_memory`: for the result of a file that is rendered ahead; nullptr: a reader waits, and memory is allocated.
  RenderJob(const ViewFile& view_file, ViewRef its_view, std::shared_ptr<SealableBuffer> its_memory)
      : shown(view_file),
        key(RenderedKey::Of(shown)),
        file(shown.entry),
        view(std::move(its_view)),
        memory(std::move(its_memory)),
        record_bytes(RecordBytes(file)),
        waited_for(memory == nullptr) {}
  RenderJob(const RenderJob&) = delete;
  RenderJob& operator=(const RenderJob&) = delete;

  // Of a record of several blocks, which is copied together; 0: the record is one block.
  static uint64_t RecordBytes(const Entry& file) { return Store::BlockCount(file) > 1 ? file.size : 0; }

  // What rendering a file takes of the budget, as most images are coded. REQUIRES: the view renders it.
  static uint64_t BytesToRender(const View& view, const Entry& file);
  // The same of this one; where the result has memory already, without it.
  uint64_t Expects() const;
  // Of that, without the memory of decoding.
  uint64_t AtLeast() const { return record_bytes + (memory != nullptr ? 0 : shown.size); }

  // The record has this number of blocks, of which each comes once.
  void BeginRecord(uint64_t blocks);
  // A block of the record, or why it did not come. True: it was the last one. Safe from any thread.
  bool AddBlock(uint64_t block_index, const Result<BlockRef>& bytes);
  // REQUIRES: the record is there.
  std::span<const std::byte> source() const {
    return block != nullptr ? block->span() : std::span<const std::byte>(record.get(), record_bytes);
  }
  // kCorrupt: the record is not what its identity says. Then an index names another store's record for bytes of its
  // own, and the result would be found as if it were rendered from that record. REQUIRES: the record is there.
  Status CheckIdentities(const Store& store) const;
  void DropSource() {
    block.reset();
    record.reset();
  }

  // Memory of the result.
  std::byte* Allocate();
  // The result, to which nothing can be written any more.
  RenderedRef Finished();
  void DropResult() {
    writing.reset();
    result.reset();
  }

  const ViewFile shown;
  const RenderedKey key;
  const Entry& file;
  const ViewRef view;
  const std::shared_ptr<SealableBuffer> memory;
  const uint64_t record_bytes;  // of `record`

  // Guarded by the lock of RenderedFiles.
  bool waited_for;  // by a reader
  bool started = false;
  bool ready = false;                                             // its record is there
  bool started_ahead = false;                                     // no reader waited for it then
  std::vector<std::function<void(Result<RenderedRef>)>> waiters;  // one for each READ, and one of the prefetch
  uint64_t read_bytes = 0;                                        // that they take, in all
  uint64_t wants = 0;                                             // of the budget
  uint64_t taken = 0;                                             // of the budget

  // The record: in its block where there is one, else copied together. A job that held blocks while it waits for others
  // would wait for memory that it takes itself.
  std::vector<BlockRef> given;  // by who asked; else it is read
  BlockRef block;
  RecycledMemory::Piece<std::byte> record;
  std::atomic<uint64_t> pending = 0;  // blocks
  std::atomic<bool> failed = false;   // the first failure is in `failure`
  Status failure;

  std::shared_ptr<RenderedFile> result;            // once it has memory
  std::optional<SealableBuffer::Writing> writing;  // to `memory`, until the result is there
  bool was_made = false;                           // before, and is there
};

}  // namespace augur
