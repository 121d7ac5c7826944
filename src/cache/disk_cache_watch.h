// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cache/disk_cache_folder.h"
#include "cache/disk_cache_index.h"
#include "cache/disk_cache_options.h"
#include "cache/disk_cache_segments.h"

namespace augur {

// DiskCacheWatch keeps up with the folder: opens segments that other daemons have made, reads on in their logs, and
// drops those that are gone. One thread at a time, as long as that holds DiskCache::look_mu_; it waits for the disk.
// All that it is given outlives it. Not for making or removing segments.
class DiskCacheWatch {
 public:
  DiskCacheWatch(const DiskCacheOptions& options, const DiskCacheFolder& folder, const DiskCacheIndex& index,
                 DiskCacheSegments& segments)
      : options_(options), folder_(folder), index_(index), segments_(segments) {}

  // As DiskCache::Refresh.
  bool Look(int64_t now_ns, std::vector<std::string>& notes);

 private:
  void LookAt(const DiskCacheFolder::Segment& found, int64_t system_ns, std::vector<std::string>& notes);
  void NoteOnce(const std::string& name, const std::string& text, std::vector<std::string>& notes);

  const DiskCacheOptions& options_;
  const DiskCacheFolder& folder_;
  const DiskCacheIndex& index_;
  DiskCacheSegments& segments_;

  std::set<std::string> noted_;
  int64_t looked_ns_ = INT64_MAX;  // this: never
};

}  // namespace augur
