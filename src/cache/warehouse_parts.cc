// SPDX-License-Identifier: Apache-2.0
#include "cache/warehouse_parts.h"

#include <algorithm>
#include <bit>

namespace augur {
namespace {

// How long a read may be held up by a process that was stopped while it had the lock; then it goes to the disk.
constexpr unsigned kWaitMs = 1000;
// What Clear does under the lock at a time: 2 ms or so.
constexpr uint32_t kItemsAtOnce = 8192;
constexpr uint32_t kSlabsAtOnce = 16;

}  // namespace

Warehouse::Parts::Inside::Inside(Parts& parts) : parts_(parts), ok_(false) {
  parts.mu.Lock();
  ok_ = parts.lock.Lock(kWaitMs);
  if (ok_ && parts.tables.torn()) parts.tables.Rebuild(parts.lock.LiveSlots());
}

Warehouse::Parts::Inside::~Inside() {
  if (ok_) parts_.lock.Unlock();
  parts_.mu.Unlock();
}

Warehouse::Parts::Local& Warehouse::Parts::local(uint32_t item) {
  if (item >= locals.size()) locals.resize(std::max<size_t>(item + 1, locals.size() + locals.size() / 2));
  return locals[item];
}

void Warehouse::Parts::Pin(uint32_t item) {
  if (local(item).pins++ == 0) tables.Pin(item, slot_bit);
}

void Warehouse::Parts::Unpin(uint32_t item) {
  if (--local(item).pins == 0) tables.Unpin(item, slot_bit);
}

bool Warehouse::Parts::PinnedByTheLiving(uint32_t item) {
  for (uint64_t pinned = tables.pinned_by(item); pinned != 0; pinned &= pinned - 1) {
    const auto by = static_cast<unsigned>(std::countr_zero(pinned));
    if (by == slot ? local(item).pins != 0 : lock.SlotTaken(by)) return true;
    tables.Unpin(item, uint64_t{1} << by);
  }
  return false;
}

uint64_t Warehouse::Parts::OthersSince() {
  uint64_t since = UINT64_MAX;
  for (uint64_t others = lock.LiveSlots() & ~slot_bit; others != 0; others &= others - 1) {
    since = std::min(since, tables.header().attached_at[static_cast<unsigned>(std::countr_zero(others))]);
  }
  return since;
}

bool Warehouse::Parts::ReapDoomed() {
  if (tables.header().doomed == 0) return false;
  bool any = false;
  for (uint32_t item = 0; item < tables.item_high(); ++item) {
    if (tables.state(item) != kItemDoomed || PinnedByTheLiving(item)) continue;
    tables.Free(item);
    any = true;
  }
  return any;
}

bool Warehouse::Parts::Grow(uint64_t pages) {
  const MutexLock growing(grow_mu);
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t punches = 0;
  uint32_t slab = kSlabAbsent;
  uint32_t item_high = 0;
  {
    const Inside inside(*this);
    if (!inside.ok()) return false;
    const WarehouseTables::Lack lack = tables.LackFor(pages);
    if (lack == WarehouseTables::Lack::kNothing) return true;  // another thread was here
    item_high = tables.item_high();
    punches = tables.header().punches;
    if (lack == WarehouseTables::Lack::kPages) {
      if (uint64_t{tables.header().slabs_present} * kSlabDataPages >= tables.pages_max()) return false;
      slab = tables.AbsentSlab();
      if (slab == kSlabAbsent) return false;
      offset = tables.geometry().slab_offset(slab);
      bytes = kSlabBytes;
    } else {
      if (item_high >= tables.geometry().items_max()) return false;
      offset = tables.geometry().items_offset() + uint64_t{item_high} * sizeof(WarehouseItem);
      bytes = uint64_t{kItemStep} * sizeof(WarehouseItem);
    }
  }
  // Without the locks, as it takes long. Another process may do the same with the same part, which is no harm.
  if (!room.Grant(bytes) || !memory.Commit(offset, bytes).ok()) return false;
  const Inside inside(*this);
  if (!inside.ok()) return false;
  if (slab == kSlabAbsent) {
    if (tables.item_high() == item_high) tables.AddItems();
  } else if (!tables.slab_present(slab) && tables.header().punches == punches) {
    // Otherwise another process may have added it, emptied it and given it back since it was committed.
    tables.AddSlab(slab);
  }
  return true;
}

void Warehouse::Parts::Discard(uint32_t item, uint64_t sequence) {
  const Inside inside(*this);
  const bool same = inside.ok() && tables.item(item).sequence == sequence && tables.state(item) == kItemReady;
  Unpin(item);
  if (!same) return;
  if (PinnedByTheLiving(item)) {
    tables.Doom(item);
  } else {
    tables.Free(item);
  }
}

uint32_t Warehouse::Parts::ClearSome(uint32_t item, uint64_t& freed) {
  const Inside inside(*this);
  if (!inside.ok()) return kNoItem;
  const uint32_t end = std::min(item + kItemsAtOnce, tables.item_high());
  for (; item < end; ++item) {
    if (tables.state(item) == kItemFree || PinnedByTheLiving(item)) continue;
    freed += tables.item(item).bytes;
    tables.Free(item);
  }
  return item < tables.item_high() ? item : kNoItem;
}

uint32_t Warehouse::Parts::EvictSome(uint32_t item, uint64_t bytes, const std::function<bool(const RecordKey&)>& known,
                                     uint64_t& freed) {
  const Inside inside(*this);
  if (!inside.ok()) return kNoItem;
  const uint64_t others_since = OthersSince();
  const uint32_t end = std::min(item + kItemsAtOnce, tables.item_high());
  for (; item < end && freed < bytes; ++item) {
    if (tables.state(item) != kItemReady) continue;
    const uint64_t sequence = tables.item(item).sequence;
    const bool own = local(item).inserted && local(item).checked == sequence;
    if (!own && sequence >= others_since) continue;
    if (known(tables.KeyOf(item)) || PinnedByTheLiving(item)) continue;
    freed += RoomFor(tables.item(item).bytes);
    tables.Free(item);
  }
  return freed < bytes && item < tables.item_high() ? item : kNoItem;
}

uint32_t Warehouse::Parts::PunchSome(uint32_t slab) {
  const Inside inside(*this);
  if (!inside.ok()) return kSlabAbsent;
  for (uint32_t done = 0; done < kSlabsAtOnce; ++done) {
    const uint32_t empty = tables.TakeOutEmptySlab(slab);
    if (empty == kSlabAbsent) return kSlabAbsent;
    memory.Punch(tables.geometry().slab_offset(empty), kSlabBytes);
    slab = empty + 1;
  }
  return slab;
}

std::vector<Warehouse::Kept> Warehouse::Parts::List() {
  std::vector<Kept> kept;
  const Inside inside(*this);
  if (!inside.ok()) return kept;
  for (uint32_t item = 0; item < tables.item_high(); ++item) {
    if (tables.state(item) == kItemReady) kept.push_back({.key = tables.KeyOf(item), .bytes = tables.item(item).bytes});
  }
  return kept;
}

}  // namespace augur
