// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "augur/store.h"
#include "base/mutex.h"
#include "cache/buffer_pool.h"
#include "control/statistics.h"
#include "decode/resize.h"
#include "fs/block_reader.h"
#include "fs/decode_pool.h"
#include "fs/decoded_files.h"
#include "fs/render_budget.h"
#include "fs/render_job.h"
#include "fs/rendered_ahead.h"
#include "fs/rendered_cache.h"
#include "fs/rendered_file.h"
#include "fs/view_table.h"
#include "prefetch/read_observer.h"
#include "prefetch/view_file.h"
#include "prefetch/view_source.h"

namespace augur {

// A memory= that has room for a file of a view which takes `bytes` to render. Views have an eighth of the memory beside
// buffers and threads, and of that a part is for tables and for memory that waits to be used again. (A test compares it
// with ResolveAugurfs.)
constexpr uint64_t MemoryForViews(uint64_t bytes) { return 14 * bytes + (uint64_t{64} << 20); }

// RenderedFiles renders the files of views when they are asked for. It reads the whole record, decodes and renders it
// on a DecodePool, and keeps the result in a RenderedCache while there is room. A file is rendered once, however many
// readers ask for it at the same time. Safe from any thread; no caller waits. `done` is called without a lock held: on
// the caller's thread if the file is there, else on a thread of the pool. REQUIRES: store, blocks, pool, statistics and
// observer outlive it. Not for files that a view shows unchanged: BlockReader.
//
// Where there is a decoded cache, a file is looked up there first, and written there after it was rendered.
//
// A file that is only predicted is rendered after those that readers wait for, into memory of its owner, who keeps it.
// When a reader comes to wait for it, it goes before the others. While the owner has the memory, readers find it there.
//
// Memory: one budget, from which a job takes everything that its file needs before it starts. That is the record if it
// is more than one block, the memory of decoding and resizing, and the result. Jobs take memory in the order of asking,
// and evict kept files for it. How much a job needs is in the image's header. Until that is read, it takes what most
// images of its size need (one scan, not interlaced). A job that turns out to need more, while there is no more, gives
// all back, waits in front of the others, and reads its record again. So no job that has memory waits for memory. Jobs
// that wait have no maximum here: each is of a READ that waits, or of a file that the prefetch has memory for.
//
// RenderBudget says which share jobs for readers have, and which jobs ahead. So a reader waits for other readers only,
// unless its file takes more than half of the budget. A file that takes more than half is not rendered ahead. The rest
// of the budget keeps rendered files until their last piece was read. A record of one block lies in the record cache's
// buffers. A file that is evicted while a reply is written from it lives until the reply is written.
class RenderedFiles {
 public:
  using Done = std::function<void(Result<RenderedRef>)>;

  // `bytes_max`: the budget, of which a small part is for tables that resizing keeps. `observer` is told of files that
  // were rendered for a reader; it may be nullptr. `decoded`: the decoded cache and the engine that reads it. `shares`:
  // rendered files are shared with mounts of other stores. Then, and with a decoded cache, a record is checked against
  // its identity before it is rendered.
  RenderedFiles(std::shared_ptr<const Store> store, BlockReader& blocks, DecodePool& pool, Statistics& statistics,
                ReadObserver* observer, const DecodedSource& decoded, uint64_t bytes_max, bool shares);
  // Waits for the end of all that is being rendered.
  ~RenderedFiles();
  RenderedFiles(const RenderedFiles&) = delete;
  RenderedFiles& operator=(const RenderedFiles&) = delete;

  // The file, of which `bytes` bytes are taken. Failures, of which none is kept: kCorrupt, kUnsupported (it cannot be
  // decoded, or the store is damaged), kIo, kNoSpace (the budget cannot hold what it takes). One that comes from the
  // image, or from the budget, is logged once, with store, record and path. REQUIRES: file.rendered, of this view.
  // Returns whether it was there already.
  bool Get(const ViewFile& file, const ViewRef& view, uint64_t bytes, const Done& done);

  // As ViewSource::HasRendered.
  bool HasRendered(const ViewFile& file) const { return decoded_.files != nullptr && decoded_.files->Has(file); }
  // As ViewSource::RenderAhead; kNoSpace, which is not logged: it takes more than may be rendered ahead. REQUIRES: no
  // less than DecodedFiles::RoomFor(file.size) bytes of memory.
  void GetAhead(const ViewFile& file, const ViewRef& view, std::vector<BlockRef> record,
                std::shared_ptr<SealableBuffer> memory, ViewSource::RenderEnded ended);

  // The budget without that part.
  uint64_t bytes_max() const { return bytes_max_; }
  // Bytes of the kept files, and those that files in the making have taken, together; for tests.
  uint64_t used_bytes() const;

 private:
  using Key = RenderedKey;
  using HashOfKey = RenderedKey::Hash;
  using JobRef = std::shared_ptr<RenderJob>;

  // What became of asking for more memory, or less.
  enum class Grant {
    kTaken,
    kLater,         // it waits for its turn, with nothing
    kRefused,       // the whole budget is smaller
    kRefusedAhead,  // ... for a file for which no reader waits
  };

  RenderedCache::Found FindKept(const Key& key, uint64_t bytes) AUGUR_REQUIRES(mu_);
  void Enter(const JobRef& job, const Done& done) AUGUR_REQUIRES(mu_);
  void Hurry(const JobRef& job) AUGUR_REQUIRES(mu_);
  void Take(const JobRef& job, uint64_t bytes) AUGUR_REQUIRES(mu_);
  void GiveBack(const JobRef& job) AUGUR_REQUIRES(mu_);
  std::vector<JobRef> TakeStartable() AUGUR_REQUIRES(mu_);
  void MakeRoom(uint64_t bytes) AUGUR_REQUIRES(mu_);
  void Start(const std::vector<JobRef>& jobs);
  bool FetchMade(const JobRef& job);
  void Fetch(const JobRef& job);
  void Ready(const JobRef& job);
  std::optional<Result<RenderedRef>> Render(const JobRef& job);
  void CountDecoded(const RenderJob& job, uint64_t decode_us);
  Grant TakeExactly(const JobRef& job, uint64_t bytes);
  void Finish(const JobRef& job, Result<RenderedRef> rendered);
  void LogOnce(const RenderJob& job, const Status& status);

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  const uint64_t bytes_max_;
  const bool shares_;

  // Own synchronization.
  BlockReader& blocks_;
  DecodePool& pool_;
  Statistics& statistics_;
  ReadObserver* const observer_;
  const DecodedSource decoded_;
  Resizer resizer_;

  // No block is let go and no callback called while it is held.
  mutable Mutex mu_{LockRank::kMiddle};
  CondVar idle_;
  std::unordered_map<Key, JobRef, HashOfKey> jobs_ AUGUR_GUARDED_BY(mu_);  // asked for and not rendered yet
  // Those of these without memory yet. One for each file that READs wait for, and one for each file for which no
  // reader waits and the prefetch has memory.
  std::deque<JobRef> waiting_ AUGUR_GUARDED_BY(mu_);
  std::deque<JobRef> waiting_ahead_ AUGUR_GUARDED_BY(mu_);
  unsigned running_ahead_ AUGUR_GUARDED_BY(mu_) = 0;  // started when no reader waited for them
  RenderedAhead ahead_ AUGUR_GUARDED_BY(mu_);
  RenderBudget budget_ AUGUR_GUARDED_BY(mu_);
  RenderedCache cache_ AUGUR_GUARDED_BY(mu_);
  uint64_t running_ AUGUR_GUARDED_BY(mu_) = 0;  // jobs whose callbacks have not returned yet
  std::unordered_set<Key, HashOfKey> logged_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
