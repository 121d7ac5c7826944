// SPDX-License-Identifier: Apache-2.0
#include "cache/retained_cache_pages.h"

#include <algorithm>
#include <bit>

#include "cache/retained_cache_change.h"

namespace augur {
namespace {

constexpr uint32_t kWordBits = 64;

// How far BestSlab looks: enough slabs to find a run among neighbours of a nearly full retained cache, few enough that
// the search (about 20 ns a slab) stays below a tenth of the copy of a block of 110 KB (10 us).
constexpr uint32_t kSlabsProbed = 16;
constexpr uint32_t kSlabsPassed = 4096;

// First page at or after `from` that is free (or used), or kSlabPages.
uint32_t NextPage(const SlabBits& bits, uint32_t from, bool free) {
  while (from < kSlabPages) {
    const uint64_t word = free ? bits[from / kWordBits] : ~bits[from / kWordBits];
    const uint64_t rest = word >> (from % kWordBits);
    if (rest != 0) return std::min(from + static_cast<uint32_t>(std::countr_zero(rest)), kSlabPages);
    from = (from / kWordBits + 1) * kWordBits;
  }
  return kSlabPages;
}

}  // namespace

bool RetainedCachePages::Exists(uint32_t page) const {
  return page / kSlabPages < geometry_.slab_count && page % kSlabPages != 0 && slab_present(page / kSlabPages);
}

bool RetainedCachePages::IsFree(uint32_t page) const {
  const uint32_t in_slab = page % kSlabPages;
  return ((Table(page / kSlabPages).free_bits[in_slab / kWordBits].Load() >> (in_slab % kWordBits)) & 1) != 0;
}

// REQUIRES: the page exists and is not so already.
void RetainedCachePages::SetFree(uint32_t page, bool free) {
  const uint32_t in_slab = page % kSlabPages;
  Shared<uint64_t>& word = Table(page / kSlabPages).free_bits[in_slab / kWordBits];
  word.Store(word.Load() ^ (uint64_t{1} << (in_slab % kWordBits)));
  SlabFree(page / kSlabPages).Add(free ? 1 : ~uint32_t{0});
  header_.free_pages.Add(free ? 1 : ~uint64_t{0});
  header_.used_pages.Add(free ? ~uint64_t{0} : 1);
}

void RetainedCachePages::ClearSlab(uint32_t slab) {
  SlabTable& table = Table(slab);
  for (Shared<uint64_t>& word : table.free_bits) word.Store(~uint64_t{0});
  table.free_bits[0].Store(~uint64_t{1});
  SlabFree(slab).Store(kSlabDataPages);
  header_.free_pages.Add(kSlabDataPages);
  header_.slabs_present.Add(1);
}

SlabBits RetainedCachePages::FreeBits(uint32_t slab) const {
  const SlabTable& table = Table(slab);
  SlabBits bits;
  for (size_t word = 0; word < bits.size(); ++word) bits[word] = table.free_bits[word].Load();
  return bits;
}

RetainedCachePages::Run RetainedCachePages::LongestRun(const SlabBits& free, uint32_t enough) {
  Run best;
  for (uint32_t at = NextPage(free, 1, true); at < kSlabPages;) {
    const uint32_t end = NextPage(free, at, false);
    if (end - at > best.pages) best = {.first = at, .pages = end - at};
    if (best.pages >= enough) return best;
    at = NextPage(free, end, true);
  }
  return best;
}

// Where to begin to take `pages`: a slab that has them in one run if there is one near, else the one near with the
// longest run. Few pieces make a block cheap to read.
uint32_t RetainedCachePages::BestSlab(uint32_t pages) const {
  const uint32_t cursor = header_.slab_cursor.Load();
  uint32_t slab = cursor < geometry_.slab_count ? cursor : 0;
  uint32_t best = slab;
  uint32_t best_run = 0;
  uint32_t probed = 0;
  uint64_t elsewhere = header_.free_pages.Load();
  for (uint32_t passed = 0; passed < std::min(geometry_.slab_count, kSlabsPassed); ++passed) {
    if (probed == kSlabsProbed || elsewhere == 0) break;
    const uint32_t there = slab_free(slab);
    const uint32_t free = there == kSlabAbsent ? 0 : there;
    elsewhere -= std::min<uint64_t>(free, elsewhere);
    if (free > best_run) {
      const uint32_t run = LongestRun(FreeBits(slab), pages).pages;
      if (run >= pages) return slab;
      if (run > best_run) {
        best_run = run;
        best = slab;
      }
      ++probed;
    }
    if (++slab == geometry_.slab_count) slab = 0;
  }
  return best;
}

bool RetainedCachePages::Take(uint64_t pages, std::vector<Run>& runs) {
  uint32_t slab = BestSlab(static_cast<uint32_t>(std::min<uint64_t>(pages, kSlabDataPages)));
  uint32_t last = kNoPage;
  uint64_t left = pages;
  for (uint32_t passed = 0; passed < geometry_.slab_count && left > 0; ++passed) {
    while (left > 0) {
      const uint32_t there = slab_free(slab);
      if (there == kSlabAbsent || there == 0) break;
      const Run run = LongestRun(FreeBits(slab), static_cast<uint32_t>(std::min<uint64_t>(left, kSlabDataPages)));
      if (run.pages == 0) break;
      const Run taken = {.first = slab * kSlabPages + run.first,
                         .pages = static_cast<uint32_t>(std::min<uint64_t>(run.pages, left))};
      for (uint32_t page = taken.first; page < taken.first + taken.pages; ++page) {
        SetFree(page, false);
        if (last != kNoPage) NextOf(last).Store(page);
        last = page;
      }
      runs.push_back(taken);
      left -= taken.pages;
      header_.slab_cursor.Store(slab);
    }
    if (++slab == geometry_.slab_count) slab = 0;
  }
  if (last != kNoPage) NextOf(last).Store(kNoPage);
  if (left == 0) return true;
  if (!runs.empty()) Free(runs.front().first, pages - left);  // the counts were wrong
  return false;
}

void RetainedCachePages::Free(uint32_t first, uint64_t pages) {
  if (pages > 0 && Exists(first)) header_.slab_cursor.Store(first / kSlabPages);
  for (uint32_t page = first; pages > 0 && Exists(page) && !IsFree(page); --pages) {
    SetFree(page, true);
    page = NextOf(page).Load();
  }
}

uint32_t RetainedCachePages::AbsentSlab() const {
  for (uint32_t slab = 0; slab < geometry_.slab_count; ++slab) {
    if (!slab_present(slab)) return slab;
  }
  return kSlabAbsent;
}

void RetainedCachePages::AddSlab(uint32_t slab) {
  RetainedCacheChange change(header_);
  ClearSlab(slab);
}

uint32_t RetainedCachePages::TakeOutEmptySlab(uint32_t from) {
  for (uint32_t slab = from; slab < geometry_.slab_count; ++slab) {
    if (slab_free(slab) != kSlabDataPages) continue;
    RetainedCacheHeader& h = header_;
    RetainedCacheChange change(h);
    SlabFree(slab).Store(kSlabAbsent);
    h.free_pages.Add(-uint64_t{kSlabDataPages});
    h.slabs_present.Add(~uint32_t{0});
    h.punches.Add(1);
    return slab;
  }
  return kSlabAbsent;
}

void RetainedCachePages::DropSlab(uint32_t slab) { SlabFree(slab).Store(kSlabAbsent); }

uint64_t RetainedCachePages::used_pages() const {
  return std::min(header_.used_pages.Load(), uint64_t{geometry_.slab_count} * kSlabDataPages);
}

uint32_t RetainedCachePages::slabs_present() const {
  return std::min(header_.slabs_present.Load(), geometry_.slab_count);
}

}  // namespace augur
