// SPDX-License-Identifier: Apache-2.0
#include "cache/retained_cache_tables.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/check.h"

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

// What a killed process leaves is what its instructions before the kill have stored, in the order of the program as
// compiled; the next holder of the lock sees all of it (lock and unlock are system calls). So the compiler alone must
// be kept from moving stores past the flag. The flag of an outer scope stays.
class RetainedCacheTables::Change {
 public:
  explicit Change(RetainedCacheHeader& header) : header_(header), before_(header.torn.Load()) {
    header_.torn.Store(1);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Change() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    header_.torn.Store(before_);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  // Leaves the flag set: the next holder of the lock rebuilds.
  void Spoil() { before_ = 1; }
  void Whole() { before_ = 0; }

 private:
  RetainedCacheHeader& header_;
  uint32_t before_;
};

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
  for (uint32_t slab = 0; slab < geometry_.slab_count; ++slab) SlabFree(slab).Store(kSlabAbsent);
  auto* const buckets = Place<Shared<uint32_t>>(geometry_.buckets_offset());
  for (uint32_t bucket = 0; bucket < geometry_.bucket_count; ++bucket) buckets[bucket].Store(kNoItem);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  h.magic.Store({kRetainedCacheMagic.data(), kRetainedCacheMagic.size()});
}

bool RetainedCacheTables::torn() const { return header().torn.Load() != 0; }

uint32_t RetainedCacheTables::item_high() const { return std::min(header().item_high.Load(), items_let_); }

void RetainedCacheTables::Rebuild(uint64_t live) {
  RetainedCacheHeader& h = header();
  Change change(h);
  change.Spoil();
  const uint32_t high = item_high() / kItemStep * kItemStep;
  h.item_high.Store(high);
  for (Shared<uint64_t>* count : {&h.used_pages, &h.free_pages, &h.block_count}) count->Store(0);
  for (Shared<uint32_t>* count : {&h.slabs_present, &h.doomed, &h.slab_cursor}) count->Store(0);
  h.item_free.Store(kNoItem);
  for (uint32_t slab = 0; slab < geometry_.slab_count; ++slab) {
    if (slab_present(slab)) ClearSlab(slab);
  }
  auto* const buckets = Place<Shared<uint32_t>>(geometry_.buckets_offset());
  for (uint32_t bucket = 0; bucket < geometry_.bucket_count; ++bucket) buckets[bucket].Store(kNoItem);
  uint64_t next_sequence = h.next_sequence.Load();
  if (next_sequence == 0 || next_sequence > kSequenceMax) next_sequence = 1;
  // What is pinned comes first, so that nobody else can have its pages. A pin may be let go of meanwhile.
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
    if (!PageExists(page) || !PageFree(page)) {
      FreePages(it.first_page, done);
      return false;
    }
    SetFree(page, false);
    page = NextOf(page).Load();
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
  Change change(h);
  const uint32_t at = h.item_free.Load();
  std::vector<Run> runs;
  if (at >= item_high() || state(at) != kItemFree || !TakePages(PagesFor(key.bytes), runs)) {
    change.Spoil();
    return kNoItem;
  }
  places.clear();
  uint64_t left = key.bytes;
  for (const Run& run : runs) {
    const uint64_t bytes = std::min(left, run.pages * kPageBytes);
    places.emplace_back(PageAt(run.first), bytes);
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
  Change change(h);
  const Item it = Copy(at);
  if (it.state == kItemDoomed) {
    h.doomed.Add(~uint32_t{0});
  } else {
    Unlink(it.key, at);
    h.block_count.Add(~uint64_t{0});
  }
  At(at).state.Store(kItemFree);
  Unpin(at, ~uint64_t{0});
  FreePages(it.first_page, PagesFor(it.key.bytes));
  PushFree(at);
}

void RetainedCacheTables::Doom(uint32_t at) {
  Change change(header());
  Unlink(KeyAt(at), at);
  header().block_count.Add(~uint64_t{0});
  header().doomed.Add(1);
  At(at).state.Store(kItemDoomed);
}

void RetainedCacheTables::Spoil() { header().torn.Store(1); }

bool RetainedCacheTables::Pieces(const Item& item, std::vector<std::span<const std::byte>>& pieces) const {
  pieces.clear();
  uint64_t left = item.key.bytes;
  uint32_t page = item.first_page;
  uint32_t before = kNoPage;
  for (; left > 0; before = page, page = NextOf(page).Load()) {
    if (!PageExists(page)) return false;
    const uint64_t bytes = std::min(left, kPageBytes);
    if (before != kNoPage && page == before + 1) {
      pieces.back() = {pieces.back().data(), pieces.back().size() + bytes};
    } else {
      pieces.emplace_back(PageAt(page), bytes);
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
  Change change(h);
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

bool RetainedCacheTables::PageExists(uint32_t page) const {
  return page / kSlabPages < geometry_.slab_count && page % kSlabPages != 0 && slab_present(page / kSlabPages);
}

bool RetainedCacheTables::PageFree(uint32_t page) const {
  const uint32_t in_slab = page % kSlabPages;
  return ((Table(page / kSlabPages).free_bits[in_slab / kWordBits].Load() >> (in_slab % kWordBits)) & 1) != 0;
}

// REQUIRES: the page exists and is not so already.
void RetainedCacheTables::SetFree(uint32_t page, bool free) {
  const uint32_t in_slab = page % kSlabPages;
  Shared<uint64_t>& word = Table(page / kSlabPages).free_bits[in_slab / kWordBits];
  word.Store(word.Load() ^ (uint64_t{1} << (in_slab % kWordBits)));
  SlabFree(page / kSlabPages).Add(free ? 1 : ~uint32_t{0});
  header().free_pages.Add(free ? 1 : ~uint64_t{0});
  header().used_pages.Add(free ? ~uint64_t{0} : 1);
}

void RetainedCacheTables::ClearSlab(uint32_t slab) {
  SlabTable& table = Table(slab);
  for (Shared<uint64_t>& word : table.free_bits) word.Store(~uint64_t{0});
  table.free_bits[0].Store(~uint64_t{1});
  SlabFree(slab).Store(kSlabDataPages);
  header().free_pages.Add(kSlabDataPages);
  header().slabs_present.Add(1);
}

SlabBits RetainedCacheTables::FreeBits(uint32_t slab) const {
  const SlabTable& table = Table(slab);
  SlabBits bits;
  for (size_t word = 0; word < bits.size(); ++word) bits[word] = table.free_bits[word].Load();
  return bits;
}

RetainedCacheTables::Run RetainedCacheTables::LongestRun(const SlabBits& free, uint32_t enough) {
  Run best;
  for (uint32_t at = NextPage(free, 1, true); at < kSlabPages;) {
    const uint32_t end = NextPage(free, at, false);
    if (end - at > best.pages) best = {.first = at, .pages = end - at};
    if (best.pages >= enough) return best;
    at = NextPage(free, end, true);
  }
  return best;
}

// Where to begin to take `pages`: a slab with so many in one run if there is one near, else the one near with the
// longest run. Few pieces make a block cheap to read.
uint32_t RetainedCacheTables::BestSlab(uint32_t pages) const {
  const uint32_t cursor = header().slab_cursor.Load();
  uint32_t slab = cursor < geometry_.slab_count ? cursor : 0;
  uint32_t best = slab;
  uint32_t best_run = 0;
  uint32_t probed = 0;
  uint64_t elsewhere = header().free_pages.Load();
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

bool RetainedCacheTables::TakePages(uint64_t pages, std::vector<Run>& runs) {
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
      header().slab_cursor.Store(slab);
    }
    if (++slab == geometry_.slab_count) slab = 0;
  }
  if (last != kNoPage) NextOf(last).Store(kNoPage);
  if (left == 0) return true;
  if (!runs.empty()) FreePages(runs.front().first, pages - left);  // the counts were wrong
  return false;
}

void RetainedCacheTables::FreePages(uint32_t first, uint64_t pages) {
  if (pages > 0 && PageExists(first)) header().slab_cursor.Store(first / kSlabPages);
  for (uint32_t page = first; pages > 0 && PageExists(page) && !PageFree(page); --pages) {
    SetFree(page, true);
    page = NextOf(page).Load();
  }
}

uint32_t RetainedCacheTables::AbsentSlab() const {
  for (uint32_t slab = 0; slab < geometry_.slab_count; ++slab) {
    if (!slab_present(slab)) return slab;
  }
  return kSlabAbsent;
}

void RetainedCacheTables::AddSlab(uint32_t slab) {
  Change change(header());
  ClearSlab(slab);
}

uint32_t RetainedCacheTables::TakeOutEmptySlab(uint32_t from) {
  for (uint32_t slab = from; slab < geometry_.slab_count; ++slab) {
    if (slab_free(slab) != kSlabDataPages) continue;
    RetainedCacheHeader& h = header();
    Change change(h);
    SlabFree(slab).Store(kSlabAbsent);
    h.free_pages.Add(-uint64_t{kSlabDataPages});
    h.slabs_present.Add(~uint32_t{0});
    h.punches.Add(1);
    return slab;
  }
  return kSlabAbsent;
}

void RetainedCacheTables::DropSlab(uint32_t slab) { SlabFree(slab).Store(kSlabAbsent); }

uint64_t RetainedCacheTables::table_bytes() const {
  return geometry_.fixed_bytes() + uint64_t{item_high()} * sizeof(RetainedCacheItem) +
         uint64_t{slabs_present()} * kPageBytes;
}

uint64_t RetainedCacheTables::held_bytes() const {
  return table_bytes() + uint64_t{slabs_present()} * kSlabDataPages * kPageBytes;
}

uint64_t RetainedCacheTables::pages_max() const {
  const uint64_t tables =
      geometry_.fixed_bytes() + uint64_t{std::max(item_high(), kItemStep)} * sizeof(RetainedCacheItem);
  const uint64_t limit_bytes = header().limit_bytes.Load();
  if (limit_bytes <= tables) return 0;
  return std::min<uint64_t>((limit_bytes - tables) / kSlabBytes, geometry_.slab_count) * kSlabDataPages;
}

uint64_t RetainedCacheTables::used_pages() const {
  return std::min(header().used_pages.Load(), uint64_t{geometry_.slab_count} * kSlabDataPages);
}

uint32_t RetainedCacheTables::slabs_present() const {
  return std::min(header().slabs_present.Load(), geometry_.slab_count);
}

uint64_t RetainedCacheTables::block_count() const {
  return std::min<uint64_t>(header().block_count.Load(), geometry_.items_max());
}

}  // namespace augur
