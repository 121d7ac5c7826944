// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cache/disk_cache_index.h"
#include "cache/disk_cache_layout.h"

namespace augur {

// Log entries of the disk cache, to and from slots. Free functions without I/O, safe from any thread.

// A file as the log has it.
struct DiskCacheLogFile {
  DiskCacheKey key;
  uint32_t first_page = 0;
  std::span<const uint64_t> sums;  // one for each block
};

// The slots of a file. REQUIRES: file.key.size is 1 to kDiskCacheFileBytesMax, one sum for each block.
std::vector<DiskCacheLogSlot> EncodeDiskCacheFile(uint64_t segment_id, const DiskCacheLogFile& file);
// What takes the place of a file's first slot when its bytes were found wrong.
DiskCacheLogSlot EncodeDiskCacheDead(uint64_t segment_id, const DiskCacheKey& key);

// What a scan of consecutive slots has found. Positions are counted from the first of them.
struct DiskCacheLogScan {
  size_t known_end = 0;  // after the last entry that was understood: look here again for entries that are written later
  size_t used_end = 0;   // after the last slot that is not empty: the next one may be written here
  size_t bad = 0;        // slots that are neither empty nor an entry of this segment, or of a file that is not whole
  size_t bad_tail = 0;   // of them, those after known_end: they may be ones that are just being written
};
// Hands each whole file to `on_file` with the position of its first slot. Skips slots that are empty, dead or damaged.
// `sums` are valid during the call only. Where the file lies is not looked at.
DiskCacheLogScan ScanDiskCacheLog(uint64_t segment_id, std::span<const DiskCacheLogSlot> slots,
                                  const std::function<void(const DiskCacheLogFile& file, size_t position)>& on_file);

}  // namespace augur
