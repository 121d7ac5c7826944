// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "cache/disk_cache.h"
#include "cache/write_behind.h"
#include "control/statistics.h"
#include "store/shard_source.h"

namespace augur {

struct DiskCopyOptions {
  std::string folder;
  uint64_t bytes_max = 0;          // 0: what leaves 5 % of the disk free
  uint64_t index_bytes_max = 0;    // memory for finding blocks
  uint64_t writing_bytes_max = 0;  // memory for blocks that wait to be written
};

// DiskCopy keeps blocks of records that came from a server in a disk cache, for later runs, other mounts and other
// stores with the same records (DISK_CACHE.md, "Records"). A block is named by Store::BlockIdentity, and it is written
// only after Store::CheckIdentity, on the thread that writes. Safe from any thread; nothing but Open and the destructor
// waits. Not for reading: CopiedShards.
class DiskCopy {
 public:
  // Opens the cache; see DiskCache::Open, also for `notes`. REQUIRES: statistics outlive it.
  static Result<std::unique_ptr<DiskCopy>> Open(DiskCopyOptions options, std::shared_ptr<const Store> store,
                                                Statistics& statistics, std::vector<std::string>& notes);
  DiskCopy(const DiskCopy&) = delete;
  DiskCopy& operator=(const DiskCopy&) = delete;

  // Begin and end the writing of the blocks that Keep takes, as WriteBehind does. Stop logs how many it leaves out.
  Status Start() { return writer_.Start(); }
  void Stop(WriteBehind::Clock::time_point write_until);

  // Where the block lies. Nothing: it is not there, or a part of the store's index is still on its way, for which Find
  // does not wait.
  std::optional<DiskCache::Place> Find(const WantedBlock& wanted) const;
  // Whether these are the bytes of the place. If not, that is logged, and the block is not found there any more.
  bool Check(const DiskCache::Place& place, std::span<const std::byte> bytes) const;
  // Copies the block to be written, unless it is there, or the disk does not follow. The bytes need not be right: they
  // are checked before they are written.
  void Keep(const WantedBlock& wanted, std::span<const std::byte> bytes);

  Statistics& statistics() const { return statistics_; }
  DiskCacheCounters counters() const { return cache_->counters(); }
  uint64_t bytes_max() const { return bytes_max_; }

  // Memory for reading a block, from a multiple of kDiskCachePageBytes on.
  static uint64_t RoomFor(uint64_t bytes) { return UpToDiskCachePage(bytes); }

 private:
  DiskCopy(std::unique_ptr<DiskCache> cache, const DiskCopyOptions& options, std::shared_ptr<const Store> store,
           Statistics& statistics);
  std::optional<DiskCacheKey> KeyOf(const WantedBlock& wanted) const;

  // Constant after construction.
  const uint64_t bytes_max_;
  const std::shared_ptr<const Store> store_;

  // Own synchronization.
  const std::unique_ptr<DiskCache> cache_;
  Statistics& statistics_;
  WriteBehind writer_;
};

}  // namespace augur
