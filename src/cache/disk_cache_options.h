// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace augur {

// What a DiskCache is opened with.
struct DiskCacheOptions {
  std::string folder;
  // What all segments in the folder may take together, other daemons' too. Each daemon keeps to its own bound; when
  // it opens the folder, it evicts unused segments beyond that. So the least bound of all daemons holds then.
  uint64_t bytes_max = 0;
  // Memory of the index. Files beyond are not found, and not inserted.
  uint64_t index_bytes_max = UINT64_MAX;
  // Read and write with O_DIRECT where the file system takes it.
  bool direct = true;

  // Below: for tests; the defaults are right.
  uint64_t segment_bytes = 0;         // 0: DiskCache::SegmentBytes(bytes_max)
  uint32_t look_ms = 5000;            // between two looks at the folder: by Refresh, and after there was no room
  uint32_t lookups_per_segment = 32;  // before a segment is evicted (DISK_CACHE.md)
  std::function<int64_t()> now_ns;    // since 1970; empty: the system's clock
};

}  // namespace augur
