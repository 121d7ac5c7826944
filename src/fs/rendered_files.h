// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "augur/store.h"
#include "base/mutex.h"
#include "control/statistics.h"
#include "decode/resize.h"
#include "fs/block_reader.h"
#include "fs/decode_pool.h"
#include "fs/view_table.h"

namespace augur {

// The bytes of a whole file of a view.
struct RenderedFile {
  std::unique_ptr<std::byte[]> data;
  size_t bytes = 0;
  std::span<const std::byte> span() const { return {data.get(), bytes}; }
};
using RenderedRef = std::shared_ptr<const RenderedFile>;

// RenderedFiles makes the files of views when they are asked for: it reads the whole record, decodes and renders it on
// a DecodePool, and keeps what was made while there is room, least recently used out first. A file is made once however
// many ask for it at the same time. Safe from any thread; nobody waits but in the pool's queue, and `done` is called
// without a lock, on the caller's thread when the file is there, on one of the pool's when it is made. REQUIRES: store,
// blocks, pool and statistics outlive it. Not for files that pass through a view: BlockReader.
//
// Memory: all that a file needs (the record where it is more than one block, what decoding and resizing allocate, the
// result) is taken from one budget before it is read, in the order of asking, and what is kept makes room for it. So a
// file that is being made never waits for memory, and each that waits gets its turn. Those in the making have half of
// the budget, or all of it if there is just one: the other half keeps what was made until its last piece has been read.
// A record of a single block lies in the record cache's own buffers. What was put out while a reply is being written
// from it lives until that is done.
class RenderedFiles {
 public:
  using Done = std::function<void(Result<RenderedRef>)>;

  // `bytes_max`: the budget, of which a small part is for tables that resizing keeps.
  RenderedFiles(std::shared_ptr<const Store> store, BlockReader& blocks, DecodePool& pool, Statistics& statistics,
                uint64_t bytes_max);
  // Waits for the end of all that is being made.
  ~RenderedFiles();
  RenderedFiles(const RenderedFiles&) = delete;
  RenderedFiles& operator=(const RenderedFiles&) = delete;

  // The file. Failures, of which none is kept: kCorrupt, kUnsupported (it cannot be decoded, or the store is damaged),
  // kIo, kNoSpace (the budget cannot hold what it takes). One that comes from the image, or from the budget, is logged
  // once, with store, record and path. REQUIRES: ShownAs(view, file) == Shown::kRendered.
  void Get(const Entry& file, const View& view, const Done& done);

  // The budget without that part.
  uint64_t bytes_max() const { return bytes_max_; }
  // What is kept and what is taken by files in the making; for tests.
  uint64_t used_bytes() const;

 private:
  // Names the bytes for good, as RecordKey does. What the store recorded of the image decides the size of the result.
  struct Key {
    Hash128 hash;
    uint64_t size = 0;
    ImageInfo info;
    std::string view;
    bool operator==(const Key&) const = default;
  };
  struct HashOfKey {
    size_t operator()(const Key& key) const;
  };
  struct Job;
  using JobRef = std::shared_ptr<Job>;
  struct Kept {
    Key key;
    RenderedRef file;
  };

  RenderedRef FindKept(const Key& key) AUGUR_REQUIRES(mu_);
  std::vector<JobRef> TakeStartable() AUGUR_REQUIRES(mu_);
  void MakeRoom(uint64_t bytes) AUGUR_REQUIRES(mu_);
  void Start(const std::vector<JobRef>& jobs);
  void Fetch(const JobRef& job);
  void Arrived(const JobRef& job, uint64_t block, const Result<BlockRef>& bytes);
  Result<RenderedRef> Make(const JobRef& job);
  Status TakeExactly(const JobRef& job, uint64_t bytes);
  void Finish(const JobRef& job, Result<RenderedRef> made);
  void LogOnce(const Job& job, const Status& status);

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  const uint64_t bytes_max_;

  // Own synchronization.
  BlockReader& blocks_;
  DecodePool& pool_;
  Statistics& statistics_;
  Resizer resizer_;

  // No block is let go and no callback called while it is held.
  mutable Mutex mu_;
  CondVar idle_;
  std::unordered_map<Key, JobRef, HashOfKey> jobs_ AUGUR_GUARDED_BY(mu_);  // asked for and not made yet
  std::deque<JobRef> waiting_ AUGUR_GUARDED_BY(mu_);                       // of these, those without memory yet
  std::list<Kept> recent_ AUGUR_GUARDED_BY(mu_);                           // made; the last one used first
  std::unordered_map<Key, std::list<Kept>::iterator, HashOfKey> kept_ AUGUR_GUARDED_BY(mu_);
  uint64_t kept_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t taken_bytes_ AUGUR_GUARDED_BY(mu_) = 0;  // by jobs
  uint64_t running_ AUGUR_GUARDED_BY(mu_) = 0;      // jobs whose callbacks have not returned yet
  std::unordered_set<Key, HashOfKey> logged_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
