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
#include "fs/rendered_cache.h"
#include "fs/rendered_file.h"
#include "fs/view_table.h"
#include "prefetch/read_observer.h"
#include "prefetch/view_file.h"
#include "prefetch/view_source.h"

namespace augur {

// A memory= that has room for a file of a view which takes `bytes` to make: views have an eighth of what is left beside
// buffers and threads, and of that a part is for tables and for memory that waits to be used again. (A test holds it
// against ResolveAugurfs.)
constexpr uint64_t MemoryForViews(uint64_t bytes) { return 12 * bytes + (uint64_t{64} << 20); }

// RenderedFiles makes the files of views when they are asked for: it reads the whole record, decodes and renders it on
// a DecodePool, and keeps of what was made what a RenderedCache keeps, while there is room. A file is made once however
// many ask for it at the same time. Safe from any thread; nobody waits but in the pool's queue, and `done` is called
// without a lock, on the caller's thread when the file is there, on one of the pool's when it is made. REQUIRES: store,
// blocks, pool, statistics and observer outlive it. Not for files that pass through a view: BlockReader.
//
// Where there is a decoded cache, a file is looked for there first, and put there when it was made.
//
// What is only predicted is made behind what somebody waits for, into memory of its owner, who keeps it. When somebody
// comes to wait for it, it goes before the others; and as long as the owner has the memory, it is found there.
//
// Memory: all that a file needs (the record where it is more than one block, what decoding and resizing allocate, the
// result) is taken from one budget before it is read, in the order of asking, and what is kept makes room for it. How
// much that is, its header says; until that is there, it is what most images of its size take (of one scan, not
// interlaced), and one that turns out to need more, where there is no more, gives all back, waits in front of the
// others and is read again. So nothing that has memory waits for memory, and each that waits gets its turn. Those in
// the making that somebody waits for have half of the budget, or if there is just one, all that those ahead do not
// have; those ahead have a quarter, or if there is just one, half: so a reader waits for other readers only, unless
// what he wants takes more than half of all. The rest keeps what was made until its last piece has been read. What
// would take more than half ahead is made when it is read. A record of a single block lies in the record cache's own
// buffers. What was put out while a reply is being written from it lives until that is done.
class RenderedFiles {
 public:
  using Done = std::function<void(Result<RenderedRef>)>;

  // `bytes_max`: the budget, of which a small part is for tables that resizing keeps. `observer` are told what was made
  // because somebody asked for it; nullptr: nobody is. `decoded`: the decoded cache and the engine that reads it.
  // `shares`: who gets what is made shares it with mounts of other stores. Then, and with a decoded cache, a record is
  // held against its identity before anything is made of it.
  RenderedFiles(std::shared_ptr<const Store> store, BlockReader& blocks, DecodePool& pool, Statistics& statistics,
                ReadObserver* observer, const DecodedSource& decoded, uint64_t bytes_max, bool shares);
  // Waits for the end of all that is being made.
  ~RenderedFiles();
  RenderedFiles(const RenderedFiles&) = delete;
  RenderedFiles& operator=(const RenderedFiles&) = delete;

  // The file, of which so many bytes are taken. Failures, of which none is kept: kCorrupt, kUnsupported (it cannot be
  // decoded, or the store is damaged), kIo, kNoSpace (the budget cannot hold what it takes). One that comes from the
  // image, or from the budget, is logged once, with store, record and path. REQUIRES: file.made, of this view. Returns
  // whether it was there already.
  bool Get(const ViewFile& file, const ViewRef& view, uint64_t bytes, const Done& done);

  // As ViewSource::HasMade.
  bool HasMade(const ViewFile& file) const { return decoded_.files != nullptr && decoded_.files->Has(file); }
  // As ViewSource::MakeAhead; kNoSpace, which is not logged: it takes more than may be made ahead. REQUIRES: no less
  // than DecodedFiles::RoomFor(file.size) bytes of memory.
  void GetAhead(const ViewFile& file, const ViewRef& view, std::vector<BlockRef> record,
                std::shared_ptr<SealableBuffer> memory, ViewSource::Made made);

  // What making the file takes of the budget, as most images are coded. REQUIRES: the view renders it.
  static uint64_t BytesToMake(const View& view, const Entry& file);

  // The budget without that part.
  uint64_t bytes_max() const { return bytes_max_; }
  // What is kept and what is taken by files in the making; for tests.
  uint64_t used_bytes() const;

 private:
  using Key = RenderedKey;
  using HashOfKey = RenderedKey::Hash;
  struct MadeAhead {
    std::weak_ptr<const SealableBuffer> memory;
    size_t bytes = 0;
  };
  struct Job;
  using JobRef = std::shared_ptr<Job>;

  // What became of asking for more memory, or less.
  enum class Grant {
    kTaken,
    kLater,         // it waits for its turn, with nothing
    kRefused,       // there is not so much
    kRefusedAhead,  // ... for what nobody waits for
  };

  RenderedCache::Found FindKept(const Key& key, uint64_t bytes) AUGUR_REQUIRES(mu_);
  RenderedRef FindAhead(const Key& key) AUGUR_REQUIRES(mu_);
  void RememberAhead(const Job& job) AUGUR_REQUIRES(mu_);
  void Enter(const JobRef& job, const Done& done) AUGUR_REQUIRES(mu_);
  void Hurry(const JobRef& job) AUGUR_REQUIRES(mu_);
  bool Fits(uint64_t bytes, bool ahead) const AUGUR_REQUIRES(mu_);
  void Take(const JobRef& job, uint64_t bytes) AUGUR_REQUIRES(mu_);
  void GiveBack(const JobRef& job) AUGUR_REQUIRES(mu_);
  std::vector<JobRef> TakeStartable() AUGUR_REQUIRES(mu_);
  void MakeRoom(uint64_t bytes) AUGUR_REQUIRES(mu_);
  void Start(const std::vector<JobRef>& jobs);
  bool FetchMade(const JobRef& job);
  void Fetch(const JobRef& job);
  void Ready(const JobRef& job);
  void RunInPool(const JobRef& job, DecodePool::Urgency urgency) AUGUR_REQUIRES(mu_);
  void Arrived(const JobRef& job, uint64_t block, const Result<BlockRef>& bytes);
  std::optional<Result<RenderedRef>> Make(const JobRef& job);
  void CountDecoded(const Job& job, uint64_t decode_us);
  Grant TakeExactly(const JobRef& job, uint64_t bytes);
  void Finish(const JobRef& job, Result<RenderedRef> made);
  void LogOnce(const Job& job, const Status& status);

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
  std::unordered_map<Key, JobRef, HashOfKey> jobs_ AUGUR_GUARDED_BY(mu_);  // asked for and not made yet
  std::deque<JobRef> waiting_ AUGUR_GUARDED_BY(mu_);                       // of these, those without memory yet
  std::deque<JobRef> waiting_ahead_ AUGUR_GUARDED_BY(mu_);                 // ... that nobody waits for
  unsigned running_ahead_ AUGUR_GUARDED_BY(mu_) = 0;                       // started, and nobody waited for them then
  // Made ahead, as long as somebody has the memory; and some where nobody has any more.
  std::unordered_map<Key, MadeAhead, HashOfKey> ahead_ AUGUR_GUARDED_BY(mu_);
  size_t sweep_at_ AUGUR_GUARDED_BY(mu_) = 0;  // entries of it
  RenderedCache cache_ AUGUR_GUARDED_BY(mu_);
  uint64_t taken_bytes_ AUGUR_GUARDED_BY(mu_) = 0;        // by jobs
  uint64_t taken_ahead_bytes_ AUGUR_GUARDED_BY(mu_) = 0;  // of them, by those that nobody waited for at their start
  uint64_t running_ AUGUR_GUARDED_BY(mu_) = 0;            // jobs whose callbacks have not returned yet
  std::unordered_set<Key, HashOfKey> logged_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
