// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "augur/status.h"
#include "cache/disk_cache_eviction.h"
#include "cache/disk_cache_folder.h"
#include "cache/disk_cache_options.h"
#include "cache/disk_cache_policy.h"
#include "cache/disk_cache_segments.h"
#include "cache/disk_cache_writer.h"

namespace augur {

// DiskCacheFiller fills one segment after another with files: those that other runs have left with room, and new ones.
// One thread at a time (DiskCache::write_mu_); it waits for the disk. All that it is given outlives it. Not for
// deciding which segments make room (DiskCacheEviction).
class DiskCacheFiller {
 public:
  DiskCacheFiller(const DiskCacheOptions& options, const DiskCacheFolder& folder, DiskCacheSegments& segments)
      : options_(options), folder_(folder), segments_(segments) {}

  // Whether Next or Append has failed less than look_ms ago, for a file that was no larger.
  bool IsTooSoon(uint64_t file_bytes, int64_t now_ns) const;

  // Whether the file has room in the segment that is being filled. Also lets that go if another process has removed it.
  bool Fits(uint64_t file_bytes);
  // Goes on to a segment that has room for the file. kNoSpace, kBusy: there is none now. REQUIRES: the thread holds
  // DiskCache::look_mu_.
  Status Next(uint64_t file_bytes, const DiskCacheRun& run, DiskCacheEviction& eviction);
  // Writes the file, and puts it into the index. After a failure nothing fits. REQUIRES: Fits(key.size).
  Status Append(const DiskCacheKey& key, DiskCacheWriter::Pieces pieces, int64_t now_ns);

 private:
  using Listing = DiskCacheEviction::Listing;

  Status Refuse(Status cause, uint64_t file_bytes, int64_t now_ns);
  Status AdoptOrMake(uint64_t file_bytes, const DiskCacheRun& run, DiskCacheEviction& eviction);
  bool Adopt(uint64_t file_bytes, uint64_t room, Listing& listing);
  Status Make(uint64_t file_bytes, const DiskCacheRun& run, DiskCacheEviction& eviction, Listing& listing);
  void Begin(std::unique_ptr<DiskCacheWriter> writer, DiskCacheSegment& segment);

  const DiskCacheOptions& options_;
  const DiskCacheFolder& folder_;
  DiskCacheSegments& segments_;

  std::unique_ptr<DiskCacheWriter> writer_;
  uint32_t number_ = 0;         // of its segment
  int64_t refused_ns_ = 0;      // when there was no room, or a failure, last; 0: never
  uint64_t refused_bytes_ = 0;  // the file that it was for: smaller ones may fit
};

}  // namespace augur
