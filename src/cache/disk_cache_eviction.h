// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cache/disk_cache_folder.h"
#include "cache/disk_cache_policy.h"
#include "cache/disk_cache_segments.h"

namespace augur {

// DiskCacheEviction keeps the segments of the folder within the bound: it removes the least recently used ones that the
// policy lets go (disk_cache_policy.h; DISK_CACHE.md has the reasons). One thread at a time, as long as that holds
// DiskCache::look_mu_; it waits for the disk. Folder and segments outlive it.
class DiskCacheEviction {
 public:
  using Listing = std::vector<DiskCacheFolder::Segment>;

  // `bytes_max`: of all segments in the folder.
  DiskCacheEviction(uint64_t bytes_max, const DiskCacheFolder& folder, DiskCacheSegments& segments)
      : bytes_max_(bytes_max), folder_(folder), segments_(segments) {}

  // When the folder is opened: removes segments that a crash has left unborn. Then evicts until the others are within
  // the bound, which may have been made smaller; those that a daemon uses stay. `notes`: as DiskCache::Open.
  void HoldToBound(const DiskCacheRun& run, std::vector<std::string>& notes);

  // What may be added, by DiskCacheSegments::folder_bytes.
  uint64_t room() const;
  // Evicts until there is room for `bytes`, or no further segment may go; takes these out of the listing. REQUIRES: the
  // folder's lock is held.
  void MakeRoom(uint64_t bytes, DiskCacheRun run, Listing& listing);

 private:
  bool MayGo(const DiskCacheFolder::Segment& found, const DiskCacheRun& run) const;
  // False: there is none that may go.
  bool EvictOldest(const DiskCacheRun& run, bool any_age, Listing& listing);

  const uint64_t bytes_max_;
  const DiskCacheFolder& folder_;
  DiskCacheSegments& segments_;
};

}  // namespace augur
