// SPDX-License-Identifier: Apache-2.0
#include "store/duplicate_table.h"

#include <sys/mman.h>

#include <cerrno>

namespace augur {

DuplicateTable::~DuplicateTable() { Clear(); }

void DuplicateTable::Clear() {
  for (Partition& part : parts_) {
    if (part.slots != nullptr) ::munmap(part.slots, part.capacity * sizeof(Slot));
    part = {};
  }
}

void DuplicateTable::Put(Partition& part, Slot slot) {
  uint64_t i = Home(slot.key, part.capacity);
  while (part.slots[i].key != 0) i = i + 1 == part.capacity ? 0 : i + 1;
  part.slots[i] = slot;
  ++part.used;
}

Status DuplicateTable::GrowPartition(Partition& part) {
  constexpr uint64_t kCapacityMin = 256;  // one page
  Partition grown;
  grown.capacity = part.capacity == 0 ? kCapacityMin : part.capacity + part.capacity / 2;
  // mmap, because what free() gets back in pieces of growing size it often cannot use again.
  void* slots =
      ::mmap(nullptr, grown.capacity * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (slots == MAP_FAILED) return ErrnoStatus(errno, "table of duplicates");
  grown.slots = static_cast<Slot*>(slots);
  for (uint64_t i = 0; i < part.capacity; ++i) {
    if (part.slots[i].key != 0) Put(grown, part.slots[i]);
  }
  if (part.slots != nullptr) ::munmap(part.slots, part.capacity * sizeof(Slot));
  part = grown;
  return Status::Ok();
}

Status DuplicateTable::Insert(uint64_t fingerprint, uint64_t number) {
  const uint64_t key = KeyOf(fingerprint);
  Partition& part = parts_[key >> kPartBits];
  if ((part.used + 1) * 5 > part.capacity * 4) AUGUR_TRY(GrowPartition(part));
  Put(part, {key, number});
  return Status::Ok();
}

}  // namespace augur
