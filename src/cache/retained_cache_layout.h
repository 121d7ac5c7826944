// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/page.h"

// What lies where in the memory of a retained cache, the same in a file that processes share and in memory of one
// process; RETAINED_CACHE.md explains it. In native byte order: the file never leaves the machine. Whoever changes a
// structure raises kRetainedCacheVersion; files of another version are replaced by empty ones.
namespace augur {

inline constexpr std::array<char, 8> kRetainedCacheMagic = {'A', 'U', 'G', 'R', 'W', 'A', 'R', 'E'};
inline constexpr uint32_t kRetainedCacheVersion = 4;

// A slab is the unit in which memory is taken from the machine and given back. It is a huge page, so that memory of one
// process can be backed by one. The kernel needs 0.5 ms to make and map it, which is done without a lock.
inline constexpr uint32_t kSlabPages = 512;
inline constexpr uint64_t kSlabBytes = kSlabPages * kPageBytes;
inline constexpr uint32_t kSlabDataPages = kSlabPages - 1;  // the first page holds the slab's own table
inline constexpr uint32_t kSlabAbsent = 0xFFFFFFFF;         // in the slab table: no memory there
inline constexpr uint32_t kNoPage = 0;                      // page 0 is a slab's table, so it is no block's
inline constexpr uint32_t kNoItem = 0xFFFFFFFF;
inline constexpr uint32_t kItemStep = 1024;           // items for which memory is taken at a time: 64 KiB
inline constexpr uint32_t kSlabCountMax = 8'388'000;  // 16 TiB: page and item numbers have 32 bits

inline constexpr uint64_t kSequenceMax = uint64_t{1} << 62;  // 100,000 years of a million blocks a second
inline constexpr size_t kRetainedCacheIdentityMax = 2048;    // bytes
inline constexpr size_t kRetainedCachePathMax = 1024;        // bytes
inline constexpr unsigned kRetainedCacheSlots = 64;          // daemons that may be attached

// A number in memory that another process may change at any moment, whatever locks are held. It is reached by these
// calls alone, and cannot be copied, so that each fetch is one that can be seen. A number is fetched once, into a
// local, checked there, and used from there.
template <typename T>
class Shared {
 public:
  Shared() = default;
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  // States and pins change without a lock. Who sees a change must also see the bytes that were stored before it.
  T Load() const { return std::atomic_ref(const_cast<T&>(value_)).load(std::memory_order_acquire); }  // NOLINT
  void Store(T to) { std::atomic_ref(value_).store(to, std::memory_order_release); }
  void Add(T step) { Store(Load() + step); }  // not atomic: of who has the locks
  void Set(T bits) { std::atomic_ref(value_).fetch_or(bits); }
  void Clear(T bits) { std::atomic_ref(value_).fetch_and(~bits); }

 private:
  T value_ = 0;
};

// Text there: it can be taken as a whole, into memory of this process.
template <size_t kBytes>
class SharedText {
 public:
  SharedText() = default;
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;

  std::array<char, kBytes> Copy() const {
    std::array<char, kBytes> copy;
    for (size_t at = 0; at < kBytes; ++at) copy[at] = chars_[at].Load();
    return copy;
  }
  // The first kBytes of `text`, at most; characters behind it stay.
  void Store(std::string_view text) {
    for (size_t at = 0; at < std::min(kBytes, text.size()); ++at) chars_[at].Store(text[at]);
  }

 private:
  std::array<Shared<char>, kBytes> chars_;
};

struct RetainedCacheHeader {
  // These never move, whatever the version: SweepDebris reads them.
  SharedText<8> magic;  // written last when a file is made
  Shared<uint32_t> version;
  Shared<uint32_t> store_path_bytes;
  SharedText<kRetainedCachePathMax> store_path;
  Shared<uint64_t>
      mount_namespace;     // inode of /proc/self/ns/mnt of who attached last: where store_path can be looked up
  SharedText<40> boot_id;  // /proc/sys/kernel/random/boot_id
  // Constant as long as the file exists.
  Shared<uint32_t> identity_bytes;
  Shared<uint32_t> slab_count;    // that the address space has room for
  Shared<uint32_t> bucket_count;  // a power of two
  Shared<uint32_t> reserved;
  SharedText<kRetainedCacheIdentityMax> identity;
  // Guarded by the lock of the file.
  Shared<uint64_t> limit_bytes;    // what slabs, items and tables may take together
  Shared<uint64_t> next_sequence;  // of the next item; never the same for two
  Shared<uint64_t> used_pages;     // of blocks
  Shared<uint64_t> free_pages;     // of slabs that are there
  Shared<uint64_t> block_count;    // items that are ready or being written
  Shared<uint64_t> punches;        // how often slabs were given back
  Shared<uint32_t> torn;           // 1 while the tables change: who finds it set under the lock rebuilds them
  Shared<uint32_t> slabs_present;
  Shared<uint32_t> item_high;    // items below have memory
  Shared<uint32_t> item_free;    // first of the unused ones, or kNoItem
  Shared<uint32_t> doomed;       // items whose bytes were wrong while they were pinned
  Shared<uint32_t> slab_cursor;  // where the search for room begins
  // next_sequence when the daemon in this slot came: what it has put in is not older.
  std::array<Shared<uint64_t>, kRetainedCacheSlots> attached_at;
  Shared<uint32_t> outlives;  // 1: the file stays when the last daemon leaves
  std::array<std::byte, 356> unused;
};
static_assert(sizeof(RetainedCacheHeader) == kPageBytes);
static_assert(offsetof(RetainedCacheHeader, store_path) == 16 &&
              offsetof(RetainedCacheHeader, mount_namespace) == 1040 &&
              offsetof(RetainedCacheHeader, boot_id) == 1048 && offsetof(RetainedCacheHeader, limit_bytes) == 3152 &&
              offsetof(RetainedCacheHeader, attached_at) == 3224);

// States of an item. In the file, never renumber.
inline constexpr uint32_t kItemFree = 0;
inline constexpr uint32_t kItemWriting = 1;  // its bytes are being copied by the process that has it pinned
inline constexpr uint32_t kItemReady = 2;
inline constexpr uint32_t kItemDoomed = 3;  // cannot be found any more; freed when it is not pinned

// One block. Its key is the identity and the bytes.
struct RetainedCacheItem {
  Shared<uint64_t> identity_low;
  Shared<uint64_t> identity_high;
  Shared<uint64_t> sequence;
  Shared<uint64_t> pinned_by;   // bit i: the daemon in slot i
  Shared<uint32_t> bytes;       // of the block
  Shared<uint32_t> first_page;  // then by SlabTable::next
  Shared<uint32_t> next;        // in the bucket, or in the list of unused items
  Shared<uint32_t> state;
  std::array<std::byte, 16> unused;
};
static_assert(sizeof(RetainedCacheItem) == 64);

// A bit for each page of a slab.
using SlabBits = std::array<uint64_t, kSlabPages / 64>;

// The first page of a slab.
struct SlabTable {
  std::array<Shared<uint32_t>, kSlabPages> next;            // of each page in use: the block's next page, or kNoPage
  std::array<Shared<uint64_t>, kSlabPages / 64> free_bits;  // bit set: the page is free
};
static_assert(sizeof(SlabTable) <= kPageBytes);

// Where the parts lie; computed from two numbers of the header, once, and kept outside the shared memory.
struct RetainedCacheGeometry {
  uint32_t slab_count = 0;
  uint32_t bucket_count = 0;

  // Every block may be of one page.
  uint32_t items_max() const {
    return static_cast<uint32_t>(RoundUp(uint64_t{slab_count} * kSlabDataPages, kItemStep));
  }
  uint64_t slab_table_offset() const { return kPageBytes; }
  uint64_t buckets_offset() const { return slab_table_offset() + RoundUp(uint64_t{slab_count} * 4, kPageBytes); }
  uint64_t items_offset() const { return buckets_offset() + RoundUp(uint64_t{bucket_count} * 4, kPageBytes); }
  uint64_t fixed_bytes() const { return items_offset(); }  // header, slab table, buckets: always there
  uint64_t slabs_offset() const {
    return RoundUp(items_offset() + uint64_t{items_max()} * sizeof(RetainedCacheItem), kSlabBytes);
  }
  uint64_t slab_offset(uint32_t slab) const { return slabs_offset() + slab * kSlabBytes; }
  uint64_t total_bytes() const { return slab_offset(slab_count); }
};

constexpr uint64_t PagesFor(uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes; }

}  // namespace augur
