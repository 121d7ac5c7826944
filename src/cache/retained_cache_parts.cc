// SPDX-License-Identifier: Apache-2.0
#include "cache/retained_cache_parts.h"

#include <unistd.h>

#include <algorithm>
#include <bit>

#include "cache/retained_cache_file.h"

namespace augur {
namespace {

// How long a read may be held up by a process that was stopped while it had the lock; then it goes to the disk.
constexpr unsigned kWaitMs = 1000;
// What Clear does under the lock at a time: 2 ms or so.
constexpr uint32_t kItemsAtOnce = 8192;
constexpr uint32_t kSlabsAtOnce = 16;

}  // namespace

RetainedCache::Parts::Inside::Inside(Parts& parts) : parts_(parts), ok_(false) {
  RetainedCacheLock::Patience patience(kWaitMs);
  parts.mu.Lock();
  while (!parts.memory.lost()) {
    ok_ = parts.lock.TryLock(patience);
    if (ok_) break;
    parts.mu.Unlock();
    const bool more = patience.Rest();
    parts.mu.Lock();
    if (more) continue;
    parts.lock.GiveUp();
    return;
  }
  if (!ok_) return;
  if (parts.tables.SaysMoreItems()) parts.LetItems();
  if (parts.tables.header().torn.Load() != 0) parts.tables.Rebuild(parts.lock.LiveSlots());
}

RetainedCache::Parts::Inside::~Inside() {
  if (ok_) parts_.lock.Unlock();
  parts_.mu.Unlock();
}

void RetainedCache::Parts::Leave() {
  if (place != Place::kShm) return;
  bool emptied = false;
  {
    const Inside inside(*this);
    if (!inside.ok()) return;
    // Under the lock: of two that leave at the same time, the second one sees that the first is gone. A pin that lives
    // on has a copy of the bytes.
    lock.LetSlot();
    const bool is_last = lock.LiveSlots() == 0 && tables.header().outlives.Load() == 0;
    if (!is_last || !StillNamed(path, fd.get())) return;
    // Who waits for the lock looks whether the file still has its name, and makes another.
    emptied = ::unlink(path.c_str()) != 0;
  }
  // Another one of the group has made it, and in a sticky folder its name is his to remove: its memory is not.
  if (emptied) Clear();
}

uint64_t RetainedCache::Parts::Clear() {
  uint64_t freed = 0;
  for (uint32_t item = 0; item != kNoItem;) item = ClearSome(item, freed);
  for (uint32_t slab = 0; slab != kSlabAbsent;) slab = PunchSome(slab);
  return freed;
}

RetainedCache::Parts::Local& RetainedCache::Parts::local(uint32_t item) {
  if (item >= locals.size()) locals.resize(std::max<size_t>(item + 1, locals.size() + locals.size() / 2));
  return locals[item];
}

void RetainedCache::Parts::Pin(uint32_t item) {
  if (local(item).pins++ == 0) tables.Pin(item, slot_bit);
}

void RetainedCache::Parts::Unpin(uint32_t item) {
  if (--local(item).pins == 0) tables.Unpin(item, slot_bit);
}

bool RetainedCache::Parts::PinnedByTheLiving(uint32_t item) {
  for (uint64_t pinned = tables.pinned_by(item); pinned != 0; pinned &= pinned - 1) {
    const auto by = static_cast<unsigned>(std::countr_zero(pinned));
    if (by == slot ? local(item).pins != 0 : lock.SlotTaken(by)) return true;
    tables.Unpin(item, uint64_t{1} << by);
  }
  return false;
}

uint64_t RetainedCache::Parts::OthersSince() {
  uint64_t since = UINT64_MAX;
  for (uint64_t others = lock.LiveSlots() & ~slot_bit; others != 0; others &= others - 1) {
    since = std::min(since, tables.header().attached_at[static_cast<unsigned>(std::countr_zero(others))].Load());
  }
  return since;
}

std::optional<std::pair<uint32_t, RetainedCacheTables::Item>> RetainedCache::Parts::FindReady(
    const RetainedCacheKey& key) {
  const uint32_t item = tables.Find(key);
  if (item == kNoItem) return std::nullopt;
  const RetainedCacheTables::Item it = tables.Copy(item);
  // It may say something else by now.
  if (it.state != kItemReady || it.key != key) return std::nullopt;
  return std::pair(item, it);
}

bool RetainedCache::Parts::ReapDoomed() {
  if (tables.header().doomed.Load() == 0) return false;
  bool any = false;
  const uint32_t high = tables.item_high();
  for (uint32_t item = 0; item < high; ++item) {
    if (tables.state(item) != kItemDoomed || PinnedByTheLiving(item)) continue;
    tables.Free(item);
    any = true;
  }
  return any;
}

bool RetainedCache::Parts::Grow(uint64_t pages) {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t punches = 0;
  uint32_t slab = kSlabAbsent;
  uint32_t item_high = 0;
  {
    const Inside inside(*this);
    if (!inside.ok()) return false;
    const RetainedCacheTables::Lack lack = tables.LackFor(pages);
    if (lack == RetainedCacheTables::Lack::kNothing) return true;  // another thread was here
    item_high = tables.item_high();
    punches = tables.header().punches.Load();
    if (lack == RetainedCacheTables::Lack::kPages) {
      if (uint64_t{tables.pages().slabs_present()} * kSlabDataPages >= tables.pages_max()) return false;
      slab = tables.pages().AbsentSlab();
      if (slab == kSlabAbsent) return false;
      offset = tables.geometry().slab_offset(slab);
      bytes = kSlabBytes;
    } else {
      if (item_high >= tables.geometry().items_max()) return false;
      offset = tables.geometry().items_offset() + uint64_t{item_high} * sizeof(RetainedCacheItem);
      bytes = uint64_t{kItemStep} * sizeof(RetainedCacheItem);
    }
  }
  // Without the locks, as it takes long. Another thread or process may do the same with the same part, which is no
  // harm.
  {
    const MutexLock asking(room_mu);
    if (!room.Grant(bytes)) return false;
  }
  if (!memory.Commit(offset, bytes).ok()) return false;
  const Inside inside(*this);
  if (!inside.ok()) return false;
  if (slab == kSlabAbsent) {
    if (tables.item_high() == item_high) tables.AddItems();
  } else if (!tables.pages().slab_present(slab) && tables.header().punches.Load() == punches) {
    // Otherwise another process may have added it, emptied it and given it back since it was committed.
    tables.pages().AddSlab(slab);
  }
  return true;
}

void RetainedCache::Parts::LetItems() {
  const uint64_t offset = tables.geometry().items_offset();
  const uint64_t bytes = memory.CommittedUntil(offset) - offset;
  tables.LetItems(static_cast<uint32_t>(std::min<uint64_t>(bytes / sizeof(RetainedCacheItem), UINT32_MAX)));
}

void RetainedCache::Parts::TellIfLost() {
  if (!memory.lost() || lost_told.exchange(true) || !on_lost) return;
  on_lost(path +
          ": was made shorter by another process, or its file system is full: its records are not used any more; mount "
          "again to begin a new cache");
}

void RetainedCache::Parts::Discard(uint32_t item, uint64_t sequence) {
  const Inside inside(*this);
  const RetainedCacheTables::Item it = inside.ok() ? tables.Copy(item) : RetainedCacheTables::Item{};
  Unpin(item);
  if (it.sequence != sequence || it.state != kItemReady) return;
  if (PinnedByTheLiving(item)) {
    tables.Doom(item);
  } else {
    tables.Free(item);
  }
}

uint32_t RetainedCache::Parts::ClearSome(uint32_t item, uint64_t& freed) {
  const Inside inside(*this);
  if (!inside.ok()) return kNoItem;
  const uint32_t high = tables.item_high();
  const uint32_t end = std::min(item + kItemsAtOnce, high);
  for (; item < end; ++item) {
    const RetainedCacheTables::Item it = tables.Copy(item);
    if (it.state == kItemFree || PinnedByTheLiving(item)) continue;
    freed += it.key.bytes;
    tables.Free(item);
  }
  return item < high ? item : kNoItem;
}

uint32_t RetainedCache::Parts::EvictSome(uint32_t item, uint64_t bytes,
                                         const std::function<bool(const RetainedCacheKey&)>& known, uint64_t& freed) {
  const Inside inside(*this);
  if (!inside.ok()) return kNoItem;
  const uint64_t others_since = OthersSince();
  const uint32_t high = tables.item_high();
  const uint32_t end = std::min(item + kItemsAtOnce, high);
  for (; item < end && freed < bytes; ++item) {
    const RetainedCacheTables::Item it = tables.Copy(item);
    if (it.state != kItemReady) continue;
    const bool own = local(item).inserted && local(item).checked == it.sequence;
    if (!own && it.sequence >= others_since) continue;
    if (known(it.key) || PinnedByTheLiving(item)) continue;
    freed += RoomFor(it.key.bytes);
    tables.Free(item);
  }
  return freed < bytes && item < high ? item : kNoItem;
}

uint32_t RetainedCache::Parts::PunchSome(uint32_t slab) {
  const Inside inside(*this);
  if (!inside.ok()) return kSlabAbsent;
  for (uint32_t done = 0; done < kSlabsAtOnce; ++done) {
    const uint32_t empty = tables.pages().TakeOutEmptySlab(slab);
    if (empty == kSlabAbsent) return kSlabAbsent;
    memory.Punch(tables.geometry().slab_offset(empty), kSlabBytes);
    slab = empty + 1;
  }
  return slab;
}

std::vector<RetainedCacheKey> RetainedCache::Parts::List() {
  std::vector<RetainedCacheKey> kept;
  const Inside inside(*this);
  if (!inside.ok()) return kept;
  const uint32_t high = tables.item_high();
  for (uint32_t item = 0; item < high; ++item) {
    const RetainedCacheTables::Item it = tables.Copy(item);
    if (it.state == kItemReady) kept.push_back(it.key);
  }
  return kept;
}

}  // namespace augur
