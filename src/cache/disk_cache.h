// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "cache/disk_cache_eviction.h"
#include "cache/disk_cache_file.h"
#include "cache/disk_cache_filler.h"
#include "cache/disk_cache_folder.h"
#include "cache/disk_cache_index.h"
#include "cache/disk_cache_options.h"
#include "cache/disk_cache_policy.h"
#include "cache/disk_cache_segments.h"
#include "cache/disk_cache_watch.h"
#include "cache/disk_cache_writer.h"

namespace augur {

// What a disk cache has done since it was opened, and what it holds.
struct DiskCacheCounters {
  uint64_t files = 0;         // that Find finds
  uint64_t bytes = 0;         // that all segments of the folder take, or may grow to; when it was looked at last
  uint64_t segments = 0;      // that are open
  uint64_t memory_bytes = 0;  // of the index
  uint64_t found = 0;         // Find
  uint64_t missed = 0;        // Find
  uint64_t inserted = 0;      // files
  uint64_t inserted_bytes = 0;
  uint64_t no_room = 0;      // files
  uint64_t failed = 0;       // files
  uint64_t forgotten = 0;    // files whose bytes were wrong, or could not be read
  uint64_t put_out = 0;      // segments that this daemon has removed to make room
  uint64_t bad_entries = 0;  // of logs, skipped
};

// DiskCache keeps values that are expensive to get in a folder on a local disk, so that later runs find them. These are
// files that were rendered out of images (DecodedFiles), and records that came from a server (DiskCopy). The kinds may
// share a folder. Any number of daemons of one user and host share it, for any stores and views. DISK_CACHE.md has its
// layout, its locks, what a crash leaves, and which segments are evicted when it is full. A value is called a file
// here. Nothing in it needs to be trusted: its bytes are checked when they are read, and a folder that cannot be used
// costs no more than getting the values again. Safe from any thread. Find, Contains, Check and Forget do no I/O;
// Insert, Refresh, Open and the destructor may wait for the disk. A Place may outlive the cache. Who forks must close
// all descriptors in the child, or call nothing but exec: a copy of a descriptor keeps the locks of a daemon that has
// died. Not for network file systems, and not for reading: the caller reads, with its ReadEngine, where a Place says.
class DiskCache {
 public:
  static constexpr uint64_t kBytesMin = 16 << 20;

  using Options = DiskCacheOptions;

  // A sixteenth of the bound, so that an eviction takes a small part. 256 MiB at most, as more makes no difference to
  // the disk. Above 256 GiB a 1,024th of the bound, as each segment takes a descriptor. Of the descriptors that the
  // process may have, half at most are taken: a daemon with a large cache must raise its limit (3,000 are enough).
  static uint64_t SegmentBytes(uint64_t bytes_max);

  // Opens the folder, makes it (0700) when only it is missing, and reads the index of all segments: about a second for
  // 1.3 million files. What could not be used is told in `notes`, each a whole sentence for a log. That is a folder
  // that is read-only (its files are used), segments that are not to be trusted or of another version, or more on the
  // disk than `bytes_max`. Failures have cause and cure, and the caller goes on without: kPermission: a symbolic link,
  // another user's folder, or one that others can write to. kInvalid: no folder, or a bound below 16 MiB. kNotFound:
  // what the folder should be made in is missing. Others: as the system says.
  static Result<std::unique_ptr<DiskCache>> Open(const Options& options, std::vector<std::string>& notes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  // Where a file lies: in one piece from `offset` on, a multiple of 4,096. The room after it up to the next multiple
  // belongs to it too, so that O_DIRECT reads can be rounded up.
  struct Place {
    DiskCacheKey key;
    std::shared_ptr<const DiskCacheFile> file;  // to read from; keeps the bytes, even if the segment is evicted
    uint64_t offset = 0;
    std::vector<uint64_t> sums;  // of each block
    uint32_t segment = 0;        // the cache's own number

    size_t block_count() const { return sums.size(); }
    uint64_t BlockOffset(size_t block) const { return offset + block * kDiskCacheBlockBytes; }  // in the file
    uint64_t BlockBytes(size_t block) const;  // REQUIRES: block < block_count()
  };
  // Nothing: it is not there, or was put there by another daemon since the last Refresh.
  std::optional<Place> Find(const DiskCacheKey& key);
  // Whether Find would find it. Does not count as use.
  bool Contains(const DiskCacheKey& key) const { return index_.Contains(key); }

  // Whether `bytes`, as read, are those of the block; a read that came short is not. Nothing else may be handed out.
  // Otherwise: Forget(place). REQUIRES: block < place.block_count().
  static bool Check(const Place& place, size_t block, std::span<const std::byte> bytes);

  // After a failed check, or a failed read: finds it no more, unless it was put elsewhere meanwhile. That holds in this
  // run, and in later ones, as the next Refresh writes it down. The caller gets it anew and may insert it again.
  void Forget(const Place& place);

  enum class Inserted {
    kYes,
    kPresent,  // it is there already
    kNoRoom,   // The bound is reached and nothing may be evicted, or the disk or the index is full. Or the file is
               // larger than 1 GiB or than the bound, or has no bytes. Or the folder is read-only or locked by another
               // daemon, or a file that is no larger was refused less than look_ms ago.
    kFailed,   // the disk refuses it: failure() says why. It will be tried again after look_ms.
  };
  // Writes the file; waits for the disk, and for others that insert. `pieces` follow each other and have key.size bytes
  // together. After kYes, Find finds it at once here, and in other daemons after a Refresh.
  Inserted Insert(const DiskCacheKey& key, DiskCacheWriter::Pieces pieces);
  // Why an insertion failed last; OK when none did.
  Status failure() const;

  // Finds the files that other daemons have added and the segments that are gone, and tells them which segments are
  // used here. To be called about every second by a thread that may wait. False: the last look was less than look_ms
  // ago, and nothing was done. `notes`: as with Open, each once.
  bool Refresh(std::vector<std::string>& notes);

  DiskCacheCounters counters() const;
  const std::string& folder() const { return folder_.path(); }

 private:
  DiskCache(Options options, DiskCacheFolder folder);
  int64_t Now() const;
  DiskCacheRun Run() const;
  Status InsertAbsent(const DiskCacheKey& key, DiskCacheWriter::Pieces pieces) AUGUR_REQUIRES(write_mu_)
      AUGUR_EXCLUDES(look_mu_);

  // Constant after construction.
  const Options options_;
  const int64_t opened_ns_;
  const DiskCacheFolder folder_;

  // Own synchronization.
  DiskCacheIndex index_;
  DiskCacheSegments segments_;
  std::atomic<uint64_t> found_ = 0;
  std::atomic<uint64_t> missed_ = 0;
  std::atomic<uint64_t> forgotten_ = 0;

  Mutex write_mu_{LockRank::kOuter};
  DiskCacheFiller filler_ AUGUR_GUARDED_BY(write_mu_);

  // Held by those who look at the folder, or make, adopt or remove segments.
  Mutex look_mu_{LockRank::kMiddle};
  DiskCacheWatch watch_ AUGUR_GUARDED_BY(look_mu_);
  DiskCacheEviction eviction_ AUGUR_GUARDED_BY(look_mu_);

  mutable Mutex counters_mu_;
  DiskCacheCounters counters_ AUGUR_GUARDED_BY(counters_mu_);  // those of Insert
  Status failure_ AUGUR_GUARDED_BY(counters_mu_);
};

}  // namespace augur
