// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/retained_cache_key.h"
#include "cache/retained_cache_layout.h"
#include "cache/retained_cache_pages.h"

namespace augur {

// RetainedCacheTables finds blocks in the memory of a retained cache. It trusts nothing that it reads there. Another
// process may have died in the middle of a change, or may write where it should not at any moment, locks or none. Each
// number is fetched once and checked before it is used. Every walk has an end that does not depend on the numbers read.
// Where bytes go in memory of this process, and how many, comes from numbers of this process alone. At worst, blocks
// are not found, or their bytes are wrong, which the caller's check finds out. It does not own the memory. REQUIRES:
// the caller has every other thread, and every process that keeps to the rules, shut out, but for MayHold, SetReady and
// Unpin. Not for taking memory from the machine (RetainedCacheMemory) or for deciding who may come in
// (RetainedCacheLock).
class RetainedCacheTables {
 public:
  // `base` has geometry.total_bytes() of address space; the parts that are used must have memory.
  RetainedCacheTables(std::byte* base, RetainedCacheGeometry geometry)
      : base_(base), geometry_(geometry), pages_(base, geometry) {}

  // Makes an empty retained cache of memory that is all zero; the magic comes last.
  void Format(std::string_view identity, std::string_view boot_id);

  RetainedCacheHeader& header() { return *Place<RetainedCacheHeader>(0); }
  const RetainedCacheHeader& header() const { return *Place<RetainedCacheHeader>(0); }
  const RetainedCacheGeometry& geometry() const { return geometry_; }

  // Makes what may be half changed whole. It throws away unfinished and impossible items: pages out of range, shared,
  // or in a circle; a key that is there already. It makes buckets, free pages, free items and the counts anew. What
  // slots in `live` have pinned stays where it is; pins of others are taken off.
  void Rebuild(uint64_t live);

  // An item that is Ready or Writing and has the key; kNoItem when there is none.
  uint32_t Find(const RetainedCacheKey& key) const { return Walk(key, kChainMax); }
  // The same without shutting anyone out, Ready ones only: may be wrong while another process makes a change.
  bool MayHold(const RetainedCacheKey& key) const;

  // What an item says, each of it fetched once.
  struct Item {
    RetainedCacheKey key;
    uint64_t sequence = 0;
    uint32_t first_page = kNoPage;
    uint32_t state = kItemFree;
  };
  // REQUIRES for this and all below: item < item_high().
  Item Copy(uint32_t item) const;
  uint32_t state(uint32_t item) const { return At(item).state.Load(); }
  uint64_t pinned_by(uint32_t item) const { return At(item).pinned_by.Load(); }
  void Pin(uint32_t item, uint64_t slot_bit) { At(item).pinned_by.Set(slot_bit); }
  void Unpin(uint32_t item, uint64_t slot_bits) { At(item).pinned_by.Clear(slot_bits); }
  void SetReady(uint32_t item) { At(item).state.Store(kItemReady); }

  // What Take lacks.
  enum class Lack { kNothing, kPages, kItems };
  Lack LackFor(uint64_t pages) const;
  // A new item with pages for key.bytes, Writing, pinned by `slot_bit`; `places` are its bytes in order, neighbouring
  // pages joined: as many as key.bytes, whatever the tables say. kNoItem: the tables are damaged; Rebuild. REQUIRES:
  // nothing is lacking, and no item has the key.
  uint32_t Take(const RetainedCacheKey& key, uint64_t slot_bit, std::vector<std::span<std::byte>>& places);
  // Gives the pages and the item back.
  void Free(uint32_t item);
  // The item can no longer be found; its pages stay until it is freed.
  void Doom(uint32_t item);
  // The block's bytes in order, neighbouring pages joined: as many as key.bytes. False: the chain is damaged.
  bool Pieces(const Item& item, std::vector<std::span<const std::byte>>& pieces) const;

  RetainedCachePages& pages() { return pages_; }
  const RetainedCachePages& pages() const { return pages_; }

  // Items below header().item_high + kItemStep have memory now.
  void AddItems();
  // How many items there are: no more than LetItems has allowed.
  uint32_t item_high() const;
  // Items below `count` are known to have memory. A larger number in the header is not believed, since a walk over
  // those items would take memory for them.
  void LetItems(uint32_t count) { items_let_ = std::min(count, geometry_.items_max()); }
  // The header speaks of more.
  bool SaysMoreItems() const { return header().item_high.Load() > items_let_; }

  // Bytes of tables that have memory: the fixed ones, items, and the first page of each slab.
  uint64_t table_bytes() const;
  uint64_t held_bytes() const;
  // Pages that blocks may take within the limit; never more than there is room for.
  uint64_t pages_max() const;
  uint64_t block_count() const;
  // Whether `pages` more would be beyond that.
  bool IsFull(uint64_t pages) const { return pages_.used_pages() + pages > pages_max(); }

 private:
  // Steps of a walk along a bucket, which has two items or so where the tables are right. A retained cache that was
  // made for 4 MiB and given 16 GiB later, all of it in blocks of one page, has 4,000.
  static constexpr uint32_t kChainMax = 1 << 16;
  // The same in Rebuild, which walks for each item: it may then leave two of one key, of which each is right.
  static constexpr uint32_t kRebuildChainMax = 256;

  template <typename T>
  T* Place(uint64_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  }
  RetainedCacheItem& At(uint32_t item) const {
    return *Place<RetainedCacheItem>(geometry_.items_offset() + item * sizeof(RetainedCacheItem));
  }
  Shared<uint32_t>& Bucket(const RetainedCacheKey& key) const;
  uint32_t Walk(const RetainedCacheKey& key, uint32_t steps_max) const;
  RetainedCacheKey KeyAt(uint32_t item) const;
  bool Claim(uint32_t item, bool pinned);
  void Link(const RetainedCacheKey& key, uint32_t item);
  void Unlink(const RetainedCacheKey& key, uint32_t item);
  void PushFree(uint32_t item);

  std::byte* base_;
  RetainedCacheGeometry geometry_;
  RetainedCachePages pages_;
  uint32_t items_let_ = 0;
};

}  // namespace augur
