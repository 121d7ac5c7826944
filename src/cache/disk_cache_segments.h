// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "cache/disk_cache_folder.h"
#include "cache/disk_cache_index.h"
#include "cache/disk_cache_log.h"
#include "cache/disk_cache_segment.h"

namespace augur {

// DiskCacheSegments has the segments that this process has open, by number and by name. The index has the files of
// these alone. Safe from any thread, but logs are read by one at a time (DiskCache::look_mu_). Folder and index outlive
// it. Not for deciding which segments are open: DiskCacheWatch opens and drops them.
class DiskCacheSegments {
 public:
  using Ref = std::shared_ptr<DiskCacheSegment>;

  DiskCacheSegments(const DiskCacheFolder& folder, DiskCacheIndex& index) : folder_(folder), index_(index) {}

  // Nothing: it is gone.
  Ref Get(uint32_t number) const AUGUR_EXCLUDES(mu_);
  // Nothing: none of this name is open.
  Ref Find(const std::string& name) const AUGUR_EXCLUDES(mu_);
  std::vector<Ref> All() const AUGUR_EXCLUDES(mu_);
  size_t count() const AUGUR_EXCLUDES(mu_);

  // Gives the segment a number that none has had before. REQUIRES: none of its name is open.
  void Add(const Ref& segment) AUGUR_EXCLUDES(mu_);
  // Lets the segment go, and its files. REQUIRES: it is open, and the caller has a reference.
  void Drop(const DiskCacheSegment& segment) AUGUR_EXCLUDES(mu_);
  // Reads on in its log, and puts the files that are new into the index. Failures: as DiskCacheSegment::ReadLog.
  Status ReadLog(DiskCacheSegment& segment);
  // Puts a file of the segment into the index.
  void Index(uint32_t number, const DiskCacheLogFile& file);

  // Takes a file whose bytes were wrong out of the index. False: it is not there, or lies elsewhere by now.
  bool Forget(const DiskCacheKey& key, uint32_t number, uint32_t first_page) AUGUR_EXCLUDES(mu_);
  // Marks files that were forgotten as dead in their logs, where the folder can be written to.
  void KillForgotten() AUGUR_EXCLUDES(mu_);

  // Of all segments in the folder, open or not. Written by those who list it, make a segment or remove one.
  std::atomic<uint64_t> folder_bytes = 0;  // that they take, or may grow to; when it was listed last
  std::atomic<uint64_t> evicted = 0;       // segments that this process has removed to make room
  std::atomic<uint64_t> bad_entries = 0;   // of the logs of open segments, skipped

 private:
  struct Forgotten {
    DiskCacheKey key;
    uint32_t number = 0;  // of its segment
    uint32_t first_page = 0;
  };

  // Own synchronization, or constant.
  const DiskCacheFolder& folder_;
  DiskCacheIndex& index_;

  mutable Mutex mu_;
  std::vector<Ref> by_number_ AUGUR_GUARDED_BY(mu_);  // empty when gone, never used again
  std::map<std::string, Ref> by_name_ AUGUR_GUARDED_BY(mu_);
  // For KillForgotten, at most kForgottenMax: of further ones the segment is not told.
  std::vector<Forgotten> forgotten_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
