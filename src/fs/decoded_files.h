// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "augur/status.h"
#include "cache/disk_cache.h"
#include "cache/disk_cache_layout.h"
#include "cache/write_behind.h"
#include "control/statistics.h"
#include "fs/rendered_file.h"
#include "io/read_engine.h"
#include "prefetch/view_file.h"

namespace augur {

struct DecodedFilesOptions {
  std::string folder;
  uint64_t bytes_max = 0;          // 0: half of the sum of its disk's free bytes and its own bytes
  uint64_t index_bytes_max = 0;    // memory for finding files
  uint64_t writing_bytes_max = 0;  // files that wait to be written
};

// DecodedFiles is the decoded cache of a mount. It brings files of views that were made before, by any daemon of this
// host, and keeps the files that this mount makes. A WriteBehind writes them. Safe from any thread; nothing but Open,
// Start, Stop and the destructor waits. Not for deciding what to make: RenderedFiles.
class DecodedFiles {
 public:
  // Opens the cache; see DiskCache::Open, also for `notes`. REQUIRES: statistics outlive it.
  static Result<std::unique_ptr<DecodedFiles>> Open(DecodedFilesOptions options, Statistics& statistics,
                                                    std::vector<std::string>& notes);
  DecodedFiles(const DecodedFiles&) = delete;
  DecodedFiles& operator=(const DecodedFiles&) = delete;

  // Begin and end to write the files that Keep is given, as WriteBehind does. What Stop leaves out is logged.
  Status Start() { return writer_.Start(); }
  void Stop(WriteBehind::Clock::time_point write_until);

  // Whether Read would find it.
  bool Has(const ViewFile& file) const;
  // Reads the file into `to`, which has RoomFor(file.size) bytes from a multiple of kDiskCachePageBytes on. Calls
  // `done` on a thread of the engine, once the bytes are there and checked, or are not. False: it is not in the cache,
  // and `done` is not called. REQUIRES: the engine has ended all reads before this object ends.
  bool Read(const ViewFile& file, ReadEngine& engine, std::byte* to, const std::function<void(bool right)>& done);

  // Takes a made file, to be written later, unless the cache has it, it waits already, or writing_bytes_max leaves no
  // room for it. In the last case the disk does not follow, and the file is to be given again when it is next asked
  // for. One file may be larger than writing_bytes_max: it is kept alive while it is written, as it is while it is
  // read.
  void Keep(const ViewFile& file, const RenderedRef& made);

  DiskCacheCounters counters() const { return cache_->counters(); }
  uint64_t bytes_max() const { return bytes_max_; }

  static uint64_t RoomFor(uint64_t bytes) { return UpToDiskCachePage(bytes); }

 private:
  static DiskCacheKey KeyOf(const ViewFile& file) { return {.hash = file.hash, .size = file.size}; }

  DecodedFiles(std::unique_ptr<DiskCache> cache, const DecodedFilesOptions& options, Statistics& statistics);

  const uint64_t bytes_max_;  // constant after construction

  // Own synchronization.
  const std::unique_ptr<DiskCache> cache_;
  Statistics& statistics_;
  WriteBehind writer_;
};

// A decoded cache, and what reads it; both nullptr: there is none.
struct DecodedSource {
  DecodedFiles* files = nullptr;
  ReadEngine* engine = nullptr;
};

}  // namespace augur
