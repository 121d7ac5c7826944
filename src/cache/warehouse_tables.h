// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/record_cache.h"
#include "cache/warehouse_layout.h"

namespace augur {

// WarehouseTables finds blocks in the memory of a warehouse and gives out its pages. It trusts nothing that it reads
// there: numbers are checked before they are used and every walk ends, because another process may have died in the
// middle of a change, or have written where it should not. It does not own the memory. REQUIRES: the caller has every
// other thread and process shut out, but for MayHold, SetReady and Unpin. Not for taking memory from the machine
// (WarehouseMemory) or for deciding who may come in (WarehouseLock).
class WarehouseTables {
 public:
  // `base` has geometry.total_bytes() of address space; what is used of it must have memory.
  WarehouseTables(std::byte* base, WarehouseGeometry geometry) : base_(base), geometry_(geometry) {}

  // Makes an empty warehouse of memory that is all zero; the magic comes last.
  void Format(std::string_view identity, std::string_view boot_id);

  WarehouseHeader& header() { return *At<WarehouseHeader>(0); }
  const WarehouseHeader& header() const { return *At<WarehouseHeader>(0); }
  const WarehouseGeometry& geometry() const { return geometry_; }

  // Makes what may be half changed whole: throws away unfinished and impossible items (pages out of range, shared, or
  // in a circle; a key that is there already), and makes buckets, free pages, free items and the counts anew. What
  // slots in `live` have pinned stays where it is; pins of others are taken off.
  void Rebuild(uint64_t live);
  bool torn() const;

  // Whether an item that is Ready or Writing has the key; kNoItem when none.
  uint32_t Find(const RecordKey& key) const;
  // The same without shutting anyone out, Ready ones only: may be wrong while another process makes a change.
  bool MayHold(const RecordKey& key) const;

  // REQUIRES for all below: `item` was returned by Find or Take under the same lock, or is pinned.
  WarehouseItem& item(uint32_t item) const { return *At<WarehouseItem>(ItemOffset(item)); }
  uint32_t state(uint32_t item) const;
  uint64_t pinned_by(uint32_t item) const;
  void Pin(uint32_t item, uint64_t slot_bit);
  void Unpin(uint32_t item, uint64_t slot_bits);
  void SetReady(uint32_t item);
  RecordKey KeyOf(uint32_t item) const;

  // What Take lacks.
  enum class Lack { kNothing, kPages, kItems };
  Lack LackFor(uint64_t pages) const;
  // A new item with pages for `bytes`, Writing, pinned by `slot_bit`. kNoItem: the tables are damaged; Rebuild.
  // REQUIRES: nothing is lacking, and no item has the key.
  uint32_t Take(const RecordKey& key, uint32_t bytes, uint64_t slot_bit);
  // Gives the pages and the item back.
  void Free(uint32_t item);
  // The item can no longer be found; its pages stay until it is freed.
  void Doom(uint32_t item);
  // Its bytes in order, neighbouring pages joined. False: the chain is damaged.
  template <typename Byte>  // std::byte, with or without const
  bool Pieces(uint32_t item, std::vector<std::span<Byte>>& pieces) const;
  // The next holder of the lock, or this one's Rebuild, is to make the tables anew.
  void Spoil();

  // The first slab without memory; kSlabAbsent when all have it.
  uint32_t AbsentSlab() const;
  // REQUIRES: the slab has memory now, and had none.
  void AddSlab(uint32_t slab);
  // The next slab at or after `from` of which no page is in use, taken out of use; kSlabAbsent when there is none.
  uint32_t TakeOutEmptySlab(uint32_t from);
  bool slab_present(uint32_t slab) const { return Load(SlabFree(slab)) != kSlabAbsent; }
  // Free pages of a slab that is present.
  uint32_t slab_free(uint32_t slab) const { return Load(SlabFree(slab)); }
  // Takes a slab that has no memory, or is to have none, out of use; Rebuild follows.
  void DropSlab(uint32_t slab);
  // Items below header().item_high + kItemStep have memory now.
  void AddItems();
  uint32_t item_high() const;  // never above geometry().items_max()

  // Bytes of tables that have memory: the fixed ones, items, and the first page of each slab.
  uint64_t table_bytes() const;
  uint64_t held_bytes() const;
  // Pages that blocks may take within the limit.
  uint64_t pages_max() const;
  // Whether `pages` more would be beyond that.
  bool IsFull(uint64_t pages) const { return header().used_pages + pages > pages_max(); }

 private:
  class Change;  // sets torn for a scope
  template <typename T>
  T* At(uint64_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  }
  static uint32_t Load(const uint32_t& value);
  static void Store(uint32_t& value, uint32_t to);
  uint32_t& SlabFree(uint32_t slab) const { return At<uint32_t>(geometry_.slab_table_offset())[slab]; }
  uint32_t& Bucket(const RecordKey& key) const;
  uint64_t ItemOffset(uint32_t item) const { return geometry_.items_offset() + item * sizeof(WarehouseItem); }
  SlabTable& Table(uint32_t slab) const { return *At<SlabTable>(geometry_.slab_offset(slab)); }
  bool PageExists(uint32_t page) const;
  bool PageFree(uint32_t page) const;
  uint32_t& NextOf(uint32_t page) const { return Table(page / kSlabPages).next[page % kSlabPages]; }
  void SetFree(uint32_t page, bool free);
  void ClearSlab(uint32_t slab);

  struct Run {
    uint32_t first = 0;  // within the slab
    uint32_t pages = 0;
  };
  Run LongestRun(uint32_t slab, uint32_t enough) const;
  uint32_t BestSlab(uint32_t pages) const;
  bool TakePages(uint64_t pages, uint32_t& first);
  void FreePages(uint32_t first, uint64_t pages);

  bool Claim(uint32_t item, bool pinned);
  void Link(uint32_t item);
  void Unlink(uint32_t item);
  void PushFree(uint32_t item);

  std::byte* base_;
  WarehouseGeometry geometry_;
};

}  // namespace augur
