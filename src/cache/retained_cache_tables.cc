// SPDX-License-Identifier: Apache-2.0
#include "cache/retained_cache_tables.h"

#include <algorithm>

#include "base/check.h"
#include "cache/retained_cache_change.h"

namespace augur {

void RetainedCacheTables::Format(std::string_view identity, std::string_view boot_id) {
  RetainedCacheHeader& h = header();
  AUGUR_CHECK(identity.size() <= kRetainedCacheIdentityMax);
  h.version.Store(kRetainedCacheVersion);
  h.boot_id.Store(boot_id);
  h.identity_bytes.Store(static_cast<uint32_t>(identity.size()));
  h.identity.Store(identity);
  h.slab_count.Store(geometry_.slab_count);
  h.bucket_count.Store(geometry_.bucket_count);
  h.next_sequence.Store(1);
  h.item_free.Store(kNoItem);
  for (uint32_t slab = 0; slab < geometry_.slab_count; ++slab) pages_.DropSlab(slab);
  auto* const buckets = Place<Shared<uint32_t>>(geometry_.buckets_offset());
  for (uint32_t bucket = 0; bucket < geometry_.bucket_count; ++bucket) buckets[bucket].Store(kNoItem);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  h.magic.Store({kRetainedCacheMagic.data(), kRetainedCacheMagic.size()});
}

uint32_t RetainedCacheTables::item_high() const { return std::min(header().item_high.Load(), items_let_); }

void RetainedCacheTables::Rebuild(uint64_t live) {
  RetainedCacheHeader& h = header();
  RetainedCacheChange change(h);
  change.Spoil();
  const uint32_t high = item_high() / kItemStep * kItemStep;
  h.item_high.Store(high);
  for (Shared<uint64_t>* count : {&h.used_pages, &h.free_pages, &h.block_count}) count->Store(0);
  for (Shared<uint32_t>* count : {&h.slabs_present, &h.doomed, &h.slab_cursor}) count->Store(0);
  h.item_free.Store(kNoItem);
  for (uint32_t slab = 0; slab < geometry_.slab_count; ++slab) {
    if (pages_.slab_present(slab)) pages_.ClearSlab(slab);
  }
  auto* const buckets = Place<Shared<uint32_t>>(geometry_.buckets_offset());
  for (uint32_t bucket = 0; bucket < geometry_.bucket_count; ++bucket) buckets[bucket].Store(kNoItem);
  uint64_t next_sequence = h.next_sequence.Load();
  if (next_sequence == 0 || next_sequence > kSequenceMax) next_sequence = 1;
  // Pinned items come first, so that no other item can have their pages. A pin may be let go of meanwhile.
  std::vector<bool> claimed(high);
  for (uint32_t at = 0; at < high; ++at) {
    // The number of a process that died after it had taken one must not be given out again.
    const uint64_t sequence = At(at).sequence.Load();
    if (sequence >= next_sequence && sequence <= kSequenceMax) next_sequence = sequence + 1;
    Unpin(at, ~live);
    claimed[at] = pinned_by(at) != 0 && Claim(at, true);
  }
  h.next_sequence.Store(next_sequence);
  for (uint32_t at = high; at-- > 0;) {
    if (claimed[at] || Claim(at, false)) continue;
    Unpin(at, ~uint64_t{0});
    At(at).state.Store(kItemFree);
    PushFree(at);
  }
  change.Whole();
}

// Takes the item's pages out of the free ones and makes it findable, in Rebuild. False: there is nothing to keep.
bool RetainedCacheTables::Claim(uint32_t at, bool pinned) {
  const Item it = Copy(at);
  if (it.state != kItemReady && !(pinned && (it.state == kItemWriting || it.state == kItemDoomed))) return false;
  if (it.key.bytes == 0 || it.sequence == 0 || it.sequence > kSequenceMax) return false;
  if (it.state != kItemDoomed && Walk(it.key, kRebuildChainMax) != kNoItem) return false;
  const uint64_t pages = PagesFor(it.key.bytes);
  uint32_t page = it.first_page;
  for (uint64_t done = 0; done < pages; ++done) {
    if (!pages_.Exists(page) || !pages_.IsFree(page)) {
      pages_.Free(it.first_page, done);
      return false;
    }
    pages_.SetFree(page, false);
    page = pages_.NextOf(page).Load();
  }
  if (it.state == kItemDoomed) {
    header().doomed.Add(1);
  } else {
    Link(it.key, at);
    header().block_count.Add(1);
  }
  return true;
}

Shared<uint32_t>& RetainedCacheTables::Bucket(const RetainedCacheKey& key) const {
  return Place<Shared<uint32_t>>(geometry_.buckets_offset())[key.identity.low & (geometry_.bucket_count - 1)];
}

RetainedCacheKey RetainedCacheTables::KeyAt(uint32_t item) const {
  const RetainedCacheItem& it = At(item);
  return {.identity = {.low = it.identity_low.Load(), .high = it.identity_high.Load()}, .bytes = it.bytes.Load()};
}

RetainedCacheTables::Item RetainedCacheTables::Copy(uint32_t item) const {
  const RetainedCacheItem& it = At(item);
  return {
      .key = KeyAt(item), .sequence = it.sequence.Load(), .first_page = it.first_page.Load(), .state = it.state.Load()};
}

uint32_t RetainedCacheTables::Walk(const RetainedCacheKey& key, uint32_t steps_max) const {
  const uint32_t high = item_high();
  uint32_t at = Bucket(key).Load();
  for (uint32_t steps = 0; at < high && steps < std::min(high, steps_max); ++steps) {
    const uint32_t state = At(at).state.Load();
    if ((state == kItemReady || state == kItemWriting) && KeyAt(at) == key) return at;
    at = At(at).next.Load();
  }
  return kNoItem;
}

bool RetainedCacheTables::MayHold(const RetainedCacheKey& key) const {
  const uint32_t at = Find(key);
  return at != kNoItem && state(at) == kItemReady;
}

RetainedCacheTables::Lack RetainedCacheTables::LackFor(uint64_t pages) const {
  if (header().free_pages.Load() < pages) return Lack::kPages;
  return header().item_free.Load() == kNoItem ? Lack::kItems : Lack::kNothing;
}

uint32_t RetainedCacheTables::Take(const RetainedCacheKey& key, uint64_t slot_bit,
                                   std::vector<std::span<std::byte>>& places) {
  RetainedCacheHeader& h = header();
  RetainedCacheChange change(h);
  const uint32_t at = h.item_free.Load();
  std::vector<RetainedCachePages::Run> runs;
  if (at >= item_high() || state(at) != kItemFree || !pages_.Take(PagesFor(key.bytes), runs)) {
    change.Spoil();
    return kNoItem;
  }
  places.clear();
  uint64_t left = key.bytes;
  for (const RetainedCachePages::Run& run : runs) {
    const uint64_t bytes = std::min(left, run.pages * kPageBytes);
    places.emplace_back(pages_.At(run.first), bytes);
    left -= bytes;
  }
  RetainedCacheItem& it = At(at);
  h.item_free.Store(it.next.Load());
  const uint64_t sequence = h.next_sequence.Load();
  h.next_sequence.Store(sequence + 1);
  it.identity_low.Store(key.identity.low);
  it.identity_high.Store(key.identity.high);
  it.sequence.Store(sequence);
  it.bytes.Store(static_cast<uint32_t>(key.bytes));
  it.first_page.Store(runs.front().first);
  it.pinned_by.Store(slot_bit);
  it.state.Store(kItemWriting);
  Link(key, at);
  h.block_count.Add(1);
  return at;
}

void RetainedCacheTables::Free(uint32_t at) {
  RetainedCacheHeader& h = header();
  RetainedCacheChange change(h);
  const Item it = Copy(at);
  if (it.state == kItemDoomed) {
    h.doomed.Add(~uint32_t{0});
  } else {
    Unlink(it.key, at);
    h.block_count.Add(~uint64_t{0});
  }
  At(at).state.Store(kItemFree);
  Unpin(at, ~uint64_t{0});
  pages_.Free(it.first_page, PagesFor(it.key.bytes));
  PushFree(at);
}

void RetainedCacheTables::Doom(uint32_t at) {
  RetainedCacheChange change(header());
  Unlink(KeyAt(at), at);
  header().block_count.Add(~uint64_t{0});
  header().doomed.Add(1);
  At(at).state.Store(kItemDoomed);
}

bool RetainedCacheTables::Pieces(const Item& item, std::vector<std::span<const std::byte>>& pieces) const {
  pieces.clear();
  uint64_t left = item.key.bytes;
  uint32_t page = item.first_page;
  uint32_t before = kNoPage;
  for (; left > 0; before = page, page = pages_.NextOf(page).Load()) {
    if (!pages_.Exists(page)) return false;
    const uint64_t bytes = std::min(left, kPageBytes);
    if (before != kNoPage && page == before + 1) {
      pieces.back() = {pieces.back().data(), pieces.back().size() + bytes};
    } else {
      pieces.emplace_back(pages_.At(page), bytes);
    }
    left -= bytes;
  }
  return true;
}

void RetainedCacheTables::Link(const RetainedCacheKey& key, uint32_t at) {
  Shared<uint32_t>& bucket = Bucket(key);
  At(at).next.Store(bucket.Load());
  bucket.Store(at);
}

void RetainedCacheTables::Unlink(const RetainedCacheKey& key, uint32_t at) {
  const uint32_t high = item_high();
  Shared<uint32_t>* link = &Bucket(key);
  for (uint32_t steps = 0; steps < high; ++steps) {
    const uint32_t there = link->Load();
    if (there >= high) return;
    if (there == at) return link->Store(At(at).next.Load());
    link = &At(there).next;
  }
}

void RetainedCacheTables::PushFree(uint32_t at) {
  At(at).next.Store(header().item_free.Load());
  header().item_free.Store(at);
}

void RetainedCacheTables::AddItems() {
  RetainedCacheHeader& h = header();
  RetainedCacheChange change(h);
  const uint32_t from = item_high();
  const uint32_t to = std::min(from + kItemStep, geometry_.items_max());
  for (uint32_t at = from; at < to; ++at) {
    At(at).state.Store(kItemFree);
    At(at).pinned_by.Store(0);
    PushFree(at);
  }
  items_let_ = std::max(items_let_, to);
  h.item_high.Store(to);
}

uint64_t RetainedCacheTables::table_bytes() const {
  return geometry_.fixed_bytes() + uint64_t{item_high()} * sizeof(RetainedCacheItem) +
         uint64_t{pages_.slabs_present()} * kPageBytes;
}

uint64_t RetainedCacheTables::held_bytes() const {
  return table_bytes() + uint64_t{pages_.slabs_present()} * kSlabDataPages * kPageBytes;
}

uint64_t RetainedCacheTables::pages_max() const {
  const uint64_t tables =
      geometry_.fixed_bytes() + uint64_t{std::max(item_high(), kItemStep)} * sizeof(RetainedCacheItem);
  const uint64_t limit_bytes = header().limit_bytes.Load();
  if (limit_bytes <= tables) return 0;
  return std::min<uint64_t>((limit_bytes - tables) / kSlabBytes, geometry_.slab_count) * kSlabDataPages;
}

uint64_t RetainedCacheTables::block_count() const {
  return std::min<uint64_t>(header().block_count.Load(), geometry_.items_max());
}

}  // namespace augur
