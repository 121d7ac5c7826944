// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/retained_cache_layout.h"

namespace augur {

// RetainedCachePages gives out the pages of a retained cache, in slabs that have memory or have none. It trusts nothing
// that it reads in that memory, as RetainedCacheTables, which it belongs to: that says who may call it, and when. A
// block's pages are a chain: each names the next.
class RetainedCachePages {
 public:
  // Neighbouring pages.
  struct Run {
    uint32_t first = 0;
    uint32_t pages = 0;
  };

  // `base` as RetainedCacheTables'.
  RetainedCachePages(std::byte* base, const RetainedCacheGeometry& geometry)
      : base_(base), geometry_(geometry), header_(*Place<RetainedCacheHeader>(0)) {}

  // Whether it is a page of a slab that has memory. REQUIRES for what takes a page: it exists.
  bool Exists(uint32_t page) const;
  bool IsFree(uint32_t page) const;
  std::byte* At(uint32_t page) const {
    return base_ + geometry_.slab_offset(page / kSlabPages) + (page % kSlabPages) * kPageBytes;
  }
  Shared<uint32_t>& NextOf(uint32_t page) const { return Table(page / kSlabPages).next[page % kSlabPages]; }

  // Takes this number of pages as a chain, in few runs if possible. False: there are fewer, whatever the counts say.
  bool Take(uint64_t pages, std::vector<Run>& runs);
  // Gives back a chain of `pages`, up to the first page that is free already or does not exist.
  void Free(uint32_t first, uint64_t pages);
  // REQUIRES: the page is not so already.
  void SetFree(uint32_t page, bool free);

  // The first slab without memory; kSlabAbsent when all have it.
  uint32_t AbsentSlab() const;
  // REQUIRES: the slab has memory now, and had none.
  void AddSlab(uint32_t slab);
  // All of its pages are free. Counts it.
  void ClearSlab(uint32_t slab);
  // The next slab at or after `from` of which no page is in use, taken out of use; kSlabAbsent when there is none.
  uint32_t TakeOutEmptySlab(uint32_t from);
  // Takes a slab that has no memory, or is to have none, out of use; RetainedCacheTables::Rebuild follows.
  void DropSlab(uint32_t slab);
  bool slab_present(uint32_t slab) const { return SlabFree(slab).Load() != kSlabAbsent; }
  // Free pages of a slab that is present.
  uint32_t slab_free(uint32_t slab) const { return SlabFree(slab).Load(); }
  uint32_t slabs_present() const;
  // In use; never more than there is room for.
  uint64_t used_pages() const;

 private:
  template <typename T>
  T* Place(uint64_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  }
  Shared<uint32_t>& SlabFree(uint32_t slab) const {
    return Place<Shared<uint32_t>>(geometry_.slab_table_offset())[slab];
  }
  SlabTable& Table(uint32_t slab) const { return *Place<SlabTable>(geometry_.slab_offset(slab)); }
  SlabBits FreeBits(uint32_t slab) const;
  static Run LongestRun(const SlabBits& free, uint32_t enough);  // pages counted within the slab
  uint32_t BestSlab(uint32_t pages) const;

  std::byte* const base_;
  const RetainedCacheGeometry geometry_;
  RetainedCacheHeader& header_;
};

}  // namespace augur
