// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace augur {

// What may be evicted from a full disk cache (DISK_CACHE.md has the reasons). Pure; safe from any thread.

// A segment that was not used for so long is not of what runs now. An epoch in shuffled order comes to every segment
// within a small part of the epoch. An epoch in the order of the files is seldom longer than a day.
inline constexpr int64_t kDiskCacheRestNs = int64_t{24} * 3600 * 1'000'000'000;

struct DiskCacheRun {
  int64_t opened_ns = 0;
  int64_t now_ns = 0;
  uint64_t lookups = 0;   // since it was opened
  uint64_t segments = 0;  // in the folder
  uint64_t lookups_per_segment = 0;
};

// Whether this run has asked for enough files to know which segments are its own.
constexpr bool DiskCacheRunKnowsItsOwn(const DiskCacheRun& run) {
  return run.lookups >= run.lookups_per_segment * run.segments;
}

// Whether a segment that was used last at that time, by anyone, is of runs long ago. A time to come (a clock was set
// back) is as good as none.
constexpr bool IsOfOldDiskCacheRuns(const DiskCacheRun& run, int64_t used_ns) {
  return used_ns < std::max(run.opened_ns, run.now_ns - kDiskCacheRestNs) || used_ns > run.now_ns + kDiskCacheRestNs;
}

}  // namespace augur
