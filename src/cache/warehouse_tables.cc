// SPDX-License-Identifier: Apache-2.0
#include "cache/warehouse_tables.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace augur {
namespace {

constexpr uint32_t kWordBits = 64;

// How far BestSlab looks: enough slabs to find a run among neighbours of a nearly full warehouse, few enough that the
// search (about 20 ns a slab) stays below a tenth of the copy of a block of 110 KB (10 us).
constexpr uint32_t kSlabsProbed = 16;
constexpr uint32_t kSlabsPassed = 4096;

// First page at or after `from` that is free (or used), or kSlabPages.
uint32_t NextPage(const SlabTable& table, uint32_t from, bool free) {
  while (from < kSlabPages) {
    const uint64_t word = free ? table.free_bits[from / kWordBits] : ~table.free_bits[from / kWordBits];
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
class WarehouseTables::Change {
 public:
  explicit Change(WarehouseHeader& header) : header_(header), before_(Load(header.torn)) {
    Store(header_.torn, 1);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Change() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    Store(header_.torn, before_);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  // Leaves the flag set: the next holder of the lock rebuilds.
  void Spoil() { before_ = 1; }
  void Whole() { before_ = 0; }

 private:
  WarehouseHeader& header_;
  uint32_t before_;
};

// Atomic where MayHold may look at the same time.
uint32_t WarehouseTables::Load(const uint32_t& value) {
  return std::atomic_ref(const_cast<uint32_t&>(value)).load(std::memory_order_acquire);  // NOLINT: no atomic_ref<const>
}
void WarehouseTables::Store(uint32_t& value, uint32_t to) {
  std::atomic_ref(value).store(to, std::memory_order_release);
}

void WarehouseTables::Format(std::string_view identity, std::string_view boot_id) {
  WarehouseHeader& h = header();
  AUGUR_CHECK(identity.size() <= h.identity.size());
  h.version = kWarehouseVersion;
  std::copy_n(boot_id.begin(), std::min(boot_id.size(), h.boot_id.size()), h.boot_id.begin());
  h.identity_bytes = static_cast<uint32_t>(identity.size());
  std::copy(identity.begin(), identity.end(), h.identity.begin());
  h.slab_count = geometry_.slab_count;
  h.bucket_count = geometry_.bucket_count;
  h.next_sequence = 1;
  h.item_free = kNoItem;
  for (uint32_t slab = 0; slab < geometry_.slab_count; ++slab) SlabFree(slab) = kSlabAbsent;
  auto* const buckets = At<uint32_t>(geometry_.buckets_offset());
  std::fill(buckets, buckets + geometry_.bucket_count, kNoItem);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  h.magic = kWarehouseMagic;
}

bool WarehouseTables::torn() const { return Load(header().torn) != 0; }

uint32_t WarehouseTables::item_high() const { return std::min(Load(header().item_high), geometry_.items_max()); }

void WarehouseTables::Rebuild(uint64_t live) {
  WarehouseHeader& h = header();
  Change change(h);
  change.Spoil();
  Store(h.item_high, item_high() / kItemStep * kItemStep);
  h.used_pages = h.free_pages = h.block_count = 0;
  h.slabs_present = h.doomed = h.slab_cursor = 0;
  h.item_free = kNoItem;
  for (uint32_t slab = 0; slab < geometry_.slab_count; ++slab) {
    if (slab_present(slab)) ClearSlab(slab);
  }
  auto* const buckets = At<uint32_t>(geometry_.buckets_offset());
  for (uint32_t bucket = 0; bucket < geometry_.bucket_count; ++bucket) Store(buckets[bucket], kNoItem);
  if (h.next_sequence == 0 || h.next_sequence > kSequenceMax) h.next_sequence = 1;
  // What is pinned comes first, so that nobody else can have its pages. A pin may be let go of meanwhile.
  std::vector<bool> claimed(item_high());
  for (uint32_t at = 0; at < item_high(); ++at) {
    WarehouseItem& it = item(at);
    // The number of a process that died after it had taken one must not be given out again.
    if (it.sequence >= h.next_sequence && it.sequence <= kSequenceMax) h.next_sequence = it.sequence + 1;
    Unpin(at, ~live);
    claimed[at] = pinned_by(at) != 0 && Claim(at, true);
  }
  for (uint32_t at = item_high(); at-- > 0;) {
    if (claimed[at] || Claim(at, false)) continue;
    Unpin(at, ~uint64_t{0});
    Store(item(at).state, kItemFree);
    PushFree(at);
  }
  change.Whole();
}

// Takes the item's pages out of the free ones and makes it findable, in Rebuild. False: there is nothing to keep.
bool WarehouseTables::Claim(uint32_t at, bool pinned) {
  WarehouseItem& it = item(at);
  const uint32_t state = Load(it.state);
  if (state != kItemReady && !(pinned && (state == kItemWriting || state == kItemDoomed))) return false;
  if (it.bytes == 0 || it.sequence == 0 || it.sequence > kSequenceMax) return false;
  if (state != kItemDoomed && Find(KeyOf(at)) != kNoItem) return false;
  const uint64_t pages = PagesFor(it.bytes);
  uint32_t page = it.first_page;
  for (uint64_t done = 0; done < pages; ++done) {
    if (!PageExists(page) || !PageFree(page)) {
      FreePages(it.first_page, done);
      return false;
    }
    SetFree(page, false);
    page = NextOf(page);
  }
  if (state == kItemDoomed) {
    ++header().doomed;
  } else {
    Link(at);
    ++header().block_count;
  }
  return true;
}

uint32_t& WarehouseTables::Bucket(const RecordKey& key) const {
  // The hash is a good one; blocks of a record are told apart by an odd number's multiples.
  const uint64_t mixed = key.hash.low ^ (key.block * 0x9E3779B97F4A7C15);
  return At<uint32_t>(geometry_.buckets_offset())[mixed & (geometry_.bucket_count - 1)];
}

RecordKey WarehouseTables::KeyOf(uint32_t at) const {
  const WarehouseItem& it = item(at);
  return {.hash = {.low = it.hash_low, .high = it.hash_high}, .size = it.size, .block = it.block};
}

uint32_t WarehouseTables::Find(const RecordKey& key) const {
  const uint32_t high = item_high();
  uint32_t at = Load(Bucket(key));
  for (uint32_t steps = 0; at < high && steps < high; ++steps) {
    const uint32_t state = Load(item(at).state);
    if ((state == kItemReady || state == kItemWriting) && KeyOf(at) == key) return at;
    at = Load(item(at).next);
  }
  return kNoItem;
}

bool WarehouseTables::MayHold(const RecordKey& key) const {
  const uint32_t at = Find(key);
  return at != kNoItem && Load(item(at).state) == kItemReady;
}

uint32_t WarehouseTables::state(uint32_t at) const { return Load(item(at).state); }
uint64_t WarehouseTables::pinned_by(uint32_t at) const {
  return std::atomic_ref(item(at).pinned_by).load(std::memory_order_acquire);
}
void WarehouseTables::Pin(uint32_t at, uint64_t slot_bit) { std::atomic_ref(item(at).pinned_by).fetch_or(slot_bit); }
void WarehouseTables::Unpin(uint32_t at, uint64_t slot_bits) {
  std::atomic_ref(item(at).pinned_by).fetch_and(~slot_bits);
}
void WarehouseTables::SetReady(uint32_t at) { Store(item(at).state, kItemReady); }

WarehouseTables::Lack WarehouseTables::LackFor(uint64_t pages) const {
  if (header().free_pages < pages) return Lack::kPages;
  return header().item_free == kNoItem ? Lack::kItems : Lack::kNothing;
}

uint32_t WarehouseTables::Take(const RecordKey& key, uint32_t bytes, uint64_t slot_bit) {
  WarehouseHeader& h = header();
  Change change(h);
  const uint32_t at = h.item_free;
  uint32_t first = kNoPage;
  if (at >= item_high() || state(at) != kItemFree || !TakePages(PagesFor(bytes), first)) {
    change.Spoil();
    return kNoItem;
  }
  WarehouseItem& it = item(at);
  h.item_free = Load(it.next);
  it.hash_low = key.hash.low;
  it.hash_high = key.hash.high;
  it.size = key.size;
  it.block = key.block;
  it.sequence = h.next_sequence++;
  it.bytes = bytes;
  it.first_page = first;
  std::atomic_ref(it.pinned_by).store(slot_bit);
  Store(it.state, kItemWriting);
  Link(at);
  ++h.block_count;
  return at;
}

void WarehouseTables::Free(uint32_t at) {
  WarehouseHeader& h = header();
  Change change(h);
  WarehouseItem& it = item(at);
  if (state(at) == kItemDoomed) {
    --h.doomed;
  } else {
    Unlink(at);
    --h.block_count;
  }
  Store(it.state, kItemFree);
  Unpin(at, ~uint64_t{0});
  FreePages(it.first_page, PagesFor(it.bytes));
  PushFree(at);
}

void WarehouseTables::Doom(uint32_t at) {
  Change change(header());
  Unlink(at);
  --header().block_count;
  ++header().doomed;
  Store(item(at).state, kItemDoomed);
}

void WarehouseTables::Spoil() { Store(header().torn, 1); }

template <typename Byte>
bool WarehouseTables::Pieces(uint32_t at, std::vector<std::span<Byte>>& pieces) const {
  pieces.clear();
  const WarehouseItem& it = item(at);
  uint64_t left = it.bytes;
  uint32_t page = it.first_page;
  uint32_t before = kNoPage;
  for (; left > 0; before = page, page = NextOf(page)) {
    if (!PageExists(page)) return false;
    const uint64_t bytes = std::min(left, kPageBytes);
    if (before != kNoPage && page == before + 1) {
      pieces.back() = {pieces.back().data(), pieces.back().size() + bytes};
    } else {
      const uint64_t offset = geometry_.slab_offset(page / kSlabPages) + (page % kSlabPages) * kPageBytes;
      pieces.emplace_back(base_ + offset, bytes);
    }
    left -= bytes;
  }
  return true;
}

template bool WarehouseTables::Pieces(uint32_t, std::vector<std::span<std::byte>>&) const;
template bool WarehouseTables::Pieces(uint32_t, std::vector<std::span<const std::byte>>&) const;

void WarehouseTables::Link(uint32_t at) {
  uint32_t& bucket = Bucket(KeyOf(at));
  Store(item(at).next, Load(bucket));
  Store(bucket, at);
}

void WarehouseTables::Unlink(uint32_t at) {
  const uint32_t high = item_high();
  uint32_t* link = &Bucket(KeyOf(at));
  for (uint32_t steps = 0; Load(*link) < high && steps < high; ++steps) {
    if (Load(*link) == at) {
      Store(*link, Load(item(at).next));
      return;
    }
    link = &item(Load(*link)).next;
  }
}

void WarehouseTables::PushFree(uint32_t at) {
  Store(item(at).next, header().item_free);
  header().item_free = at;
}

void WarehouseTables::AddItems() {
  WarehouseHeader& h = header();
  Change change(h);
  const uint32_t from = item_high();
  const uint32_t to = std::min(from + kItemStep, geometry_.items_max());
  for (uint32_t at = from; at < to; ++at) {
    item(at) = WarehouseItem{};
    PushFree(at);
  }
  Store(h.item_high, to);
}

bool WarehouseTables::PageExists(uint32_t page) const {
  return page / kSlabPages < geometry_.slab_count && page % kSlabPages != 0 && slab_present(page / kSlabPages);
}

bool WarehouseTables::PageFree(uint32_t page) const {
  const uint32_t in_slab = page % kSlabPages;
  return ((Table(page / kSlabPages).free_bits[in_slab / kWordBits] >> (in_slab % kWordBits)) & 1) != 0;
}

// REQUIRES: the page exists and is not so already.
void WarehouseTables::SetFree(uint32_t page, bool free) {
  const uint32_t in_slab = page % kSlabPages;
  const uint32_t step = free ? 1 : ~uint32_t{0};
  Table(page / kSlabPages).free_bits[in_slab / kWordBits] ^= uint64_t{1} << (in_slab % kWordBits);
  uint32_t& count = SlabFree(page / kSlabPages);
  Store(count, Load(count) + step);
  header().free_pages += free ? 1 : ~uint64_t{0};
  header().used_pages += free ? ~uint64_t{0} : 1;
}

void WarehouseTables::ClearSlab(uint32_t slab) {
  SlabTable& table = Table(slab);
  table.free_bits.fill(~uint64_t{0});
  table.free_bits[0] = ~uint64_t{1};
  Store(SlabFree(slab), kSlabDataPages);
  header().free_pages += kSlabDataPages;
  ++header().slabs_present;
}

WarehouseTables::Run WarehouseTables::LongestRun(uint32_t slab, uint32_t enough) const {
  const SlabTable& table = Table(slab);
  Run best;
  for (uint32_t at = NextPage(table, 1, true); at < kSlabPages;) {
    const uint32_t end = NextPage(table, at, false);
    if (end - at > best.pages) best = {.first = at, .pages = end - at};
    if (best.pages >= enough) return best;
    at = NextPage(table, end, true);
  }
  return best;
}

// Where to begin to take `pages`: a slab with so many in one run if there is one near, else the one near with the
// longest run. Few pieces make a block cheap to read.
uint32_t WarehouseTables::BestSlab(uint32_t pages) const {
  uint32_t slab = header().slab_cursor < geometry_.slab_count ? header().slab_cursor : 0;
  uint32_t best = slab;
  uint32_t best_run = 0;
  uint32_t probed = 0;
  uint64_t elsewhere = header().free_pages;
  for (uint32_t passed = 0; passed < std::min(geometry_.slab_count, kSlabsPassed); ++passed) {
    if (probed == kSlabsProbed || elsewhere == 0) break;
    const uint32_t free = slab_present(slab) ? Load(SlabFree(slab)) : 0;
    elsewhere -= std::min<uint64_t>(free, elsewhere);
    if (free > best_run) {
      const uint32_t run = LongestRun(slab, pages).pages;
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

bool WarehouseTables::TakePages(uint64_t pages, uint32_t& first) {
  uint32_t slab = BestSlab(static_cast<uint32_t>(std::min<uint64_t>(pages, kSlabDataPages)));
  first = kNoPage;
  uint32_t last = kNoPage;
  uint64_t left = pages;
  for (uint32_t passed = 0; passed < geometry_.slab_count && left > 0; ++passed) {
    while (left > 0 && slab_present(slab) && Load(SlabFree(slab)) > 0) {
      const Run run = LongestRun(slab, static_cast<uint32_t>(std::min<uint64_t>(left, kSlabDataPages)));
      if (run.pages == 0) break;
      const auto count = static_cast<uint32_t>(std::min<uint64_t>(run.pages, left));
      for (uint32_t page = slab * kSlabPages + run.first; page < slab * kSlabPages + run.first + count; ++page) {
        SetFree(page, false);
        if (last == kNoPage) {
          first = page;
        } else {
          NextOf(last) = page;
        }
        last = page;
      }
      left -= count;
      header().slab_cursor = slab;
    }
    if (++slab == geometry_.slab_count) slab = 0;
  }
  if (last != kNoPage) NextOf(last) = kNoPage;
  if (left == 0) return true;
  FreePages(first, pages - left);  // the counts were wrong
  return false;
}

void WarehouseTables::FreePages(uint32_t first, uint64_t pages) {
  if (pages > 0 && PageExists(first)) header().slab_cursor = first / kSlabPages;
  for (uint32_t page = first; pages > 0 && PageExists(page) && !PageFree(page); --pages) {
    SetFree(page, true);
    page = NextOf(page);
  }
}

uint32_t WarehouseTables::AbsentSlab() const {
  for (uint32_t slab = 0; slab < geometry_.slab_count; ++slab) {
    if (!slab_present(slab)) return slab;
  }
  return kSlabAbsent;
}

void WarehouseTables::AddSlab(uint32_t slab) {
  Change change(header());
  ClearSlab(slab);
}

uint32_t WarehouseTables::TakeOutEmptySlab(uint32_t from) {
  for (uint32_t slab = from; slab < geometry_.slab_count; ++slab) {
    if (Load(SlabFree(slab)) != kSlabDataPages) continue;
    Change change(header());
    Store(SlabFree(slab), kSlabAbsent);
    header().free_pages -= kSlabDataPages;
    --header().slabs_present;
    ++header().punches;
    return slab;
  }
  return kSlabAbsent;
}

void WarehouseTables::DropSlab(uint32_t slab) { Store(SlabFree(slab), kSlabAbsent); }

uint64_t WarehouseTables::table_bytes() const {
  return geometry_.fixed_bytes() + uint64_t{item_high()} * sizeof(WarehouseItem) +
         uint64_t{header().slabs_present} * kPageBytes;
}

uint64_t WarehouseTables::held_bytes() const {
  return table_bytes() + uint64_t{header().slabs_present} * kSlabDataPages * kPageBytes;
}

uint64_t WarehouseTables::pages_max() const {
  const uint64_t tables = geometry_.fixed_bytes() + uint64_t{std::max(item_high(), kItemStep)} * sizeof(WarehouseItem);
  if (header().limit_bytes <= tables) return 0;
  return std::min<uint64_t>((header().limit_bytes - tables) / kSlabBytes, geometry_.slab_count) * kSlabDataPages;
}

}  // namespace augur
