// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "augur/entry.h"
#include "base/mutex.h"

namespace augur {

// Names a value for good, by what cannot be forged. Of a rendered file that is the record's identity, what its image
// is, and the view; of a block of a record, its identity. So other bytes have another key.
struct DiskCacheKey {
  Hash128 hash;
  uint64_t size = 0;  // of the value, bytes
  bool operator==(const DiskCacheKey&) const = default;
};

// DiskCacheIndex tells where each file of the disk cache lies. Safe from any thread; no I/O; a call waits for no more
// than the growth of one of its 64 parts (some ms when there are a million files). Memory: 42 bytes a file and 4 to 8
// for the buckets; files of more than one block take some 80 more, and 8 for each block. When a part has its share of
// the bound, it takes no more. Not for deciding whether a place is still good.
class DiskCacheIndex {
 public:
  // Of a file of one block.
  static constexpr uint64_t kBytesPerFile = 50;

  // `bytes_max`: of items and buckets.
  explicit DiskCacheIndex(uint64_t bytes_max = UINT64_MAX) : part_bytes_max_(bytes_max / kParts) {}

  struct Where {
    uint32_t segment = 0;  // a number of the caller's
    uint32_t first_page = 0;
    std::vector<uint64_t> sums;  // of each block
  };

  // False: a file of this key is there already, and stays where it is; or there is no room for it. REQUIRES: key.size <
  // 4 GiB, a sum at least.
  bool Insert(const DiskCacheKey& key, uint32_t segment, uint32_t first_page, std::span<const uint64_t> sums);
  // Nothing when it is absent.
  std::optional<Where> Find(const DiskCacheKey& key) const;
  bool Contains(const DiskCacheKey& key) const;
  // False: it is not there, or it lies elsewhere by now.
  bool Erase(const DiskCacheKey& key, uint32_t segment, uint32_t first_page);
  // Takes out all files of the segment; looks at every file. Returns how many it were.
  uint64_t EraseSegment(uint32_t segment);

  // Whether there is room for one more file of this key.
  bool HasRoom(const DiskCacheKey& key) const;

  uint64_t file_count() const;
  // Counts a file that was not given to Insert because there was no room.
  void LeaveOut() { left_out_.fetch_add(1, std::memory_order_relaxed); }
  // Files that were left out: by LeaveOut, or by Insert because there was no room.
  uint64_t left_out() const { return left_out_.load(std::memory_order_relaxed); }
  // Of items and buckets; about.
  uint64_t memory_bytes() const;

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  static constexpr size_t kParts = 64;  // each has a mutex: readers seldom meet, and growth is in small steps
  struct Item {
    Hash128 hash;
    uint64_t sum = 0;  // of a file of one block; else the sums are in `many`
    uint32_t size = 0;
    uint32_t first_page = 0;
    uint32_t segment = 0;
    uint32_t next = kNone;  // in the bucket, or in the list of free items
  };
  static_assert(sizeof(Item) == 40);
  struct Part {
    mutable Mutex mu;
    // Guarded by mu.
    // Grows without copying. It has at most what fits in part_bytes_max_ with the others: then Insert takes no file.
    std::deque<Item> items AUGUR_GUARDED_BY(mu);
    std::vector<uint32_t> buckets AUGUR_GUARDED_BY(mu);                             // a power of two
    std::unordered_map<uint32_t, std::vector<uint64_t>> many AUGUR_GUARDED_BY(mu);  // by item
    uint32_t free AUGUR_GUARDED_BY(mu) = kNone;
    uint32_t count AUGUR_GUARDED_BY(mu) = 0;
    uint64_t many_bytes AUGUR_GUARDED_BY(mu) = 0;  // of `many`
  };
  static uint64_t Mixed(const DiskCacheKey& key);
  static uint32_t Lookup(const Part& part, const DiskCacheKey& key, uint64_t mixed) AUGUR_REQUIRES(part.mu);
  static void Grow(Part* part) AUGUR_REQUIRES(part->mu);
  static void Free(Part* part, uint32_t* link) AUGUR_REQUIRES(part->mu);
  static uint64_t BytesOf(const Part& part) AUGUR_REQUIRES(part.mu);
  bool PartHasRoom(const Part& part, uint64_t size) const AUGUR_REQUIRES(part.mu);

  const uint64_t part_bytes_max_;
  std::atomic<uint64_t> left_out_ = 0;
  std::array<Part, kParts> parts_;
};

}  // namespace augur
