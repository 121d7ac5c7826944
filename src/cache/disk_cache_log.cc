// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_log.h"

#include <algorithm>

#include "base/check.h"
#include "cache/disk_cache_sum.h"

namespace augur {
namespace {

uint64_t SlotSum(uint64_t segment_id, const DiskCacheLogSlot& slot) {
  return DiskCacheSum(std::as_bytes(std::span(&slot, 1)).first(offsetof(DiskCacheLogSlot, sum)), segment_id);
}

bool IsEmpty(const DiskCacheLogSlot& slot) {
  return slot.kind == 0 && slot.number == 0 && slot.sum == 0 &&
         std::all_of(slot.words.begin(), slot.words.end(), [](uint64_t word) { return word == 0; });
}

// Reads the file whose first slot is the first of `slots` into `sums`. False: it is not whole.
bool ReadFile(uint64_t segment_id, std::span<const DiskCacheLogSlot> slots, std::vector<uint64_t>* sums) {
  const DiskCacheLogSlot& first = slots[0];
  const uint64_t size = first.words[2];
  if (size == 0 || size > kDiskCacheFileBytesMax) return false;
  const uint64_t blocks = DiskCacheBlocks(size);
  if (DiskCacheSlots(blocks) > slots.size()) return false;
  sums->assign(first.words.begin() + 3, first.words.begin() + 3 + std::min(blocks, kDiskCacheSumsInFile));
  for (size_t at = 1; sums->size() < blocks; ++at) {
    const DiskCacheLogSlot& more = slots[at];
    if (more.kind != kDiskCacheMoreEntry || more.words[0] != first.words[0] || more.number != sums->size() ||
        more.sum != SlotSum(segment_id, more)) {
      return false;
    }
    const uint64_t count = std::min(blocks - sums->size(), kDiskCacheSumsInMore);
    sums->insert(sums->end(), more.words.begin() + 1, more.words.begin() + 1 + count);
  }
  return true;
}

}  // namespace

std::vector<DiskCacheLogSlot> EncodeDiskCacheFile(uint64_t segment_id, const DiskCacheLogFile& file) {
  AUGUR_CHECK(file.key.size > 0 && file.key.size <= kDiskCacheFileBytesMax);
  AUGUR_CHECK(file.sums.size() == DiskCacheBlocks(file.key.size));
  std::vector<DiskCacheLogSlot> slots(DiskCacheSlots(file.sums.size()));
  DiskCacheLogSlot& first = slots[0];
  first.words = {file.key.hash.low, file.key.hash.high, file.key.size, 0, 0, 0};
  first.number = file.first_page;
  first.kind = kDiskCacheFileEntry;
  size_t done = std::min<size_t>(file.sums.size(), kDiskCacheSumsInFile);
  std::copy_n(file.sums.begin(), done, first.words.begin() + 3);
  for (DiskCacheLogSlot& more : std::span(slots).subspan(1)) {
    const size_t count = std::min<size_t>(file.sums.size() - done, kDiskCacheSumsInMore);
    more.words[0] = file.key.hash.low;
    std::copy_n(file.sums.begin() + static_cast<ptrdiff_t>(done), count, more.words.begin() + 1);
    more.number = static_cast<uint32_t>(done);
    more.kind = kDiskCacheMoreEntry;
    done += count;
  }
  for (DiskCacheLogSlot& slot : slots) slot.sum = SlotSum(segment_id, slot);
  return slots;
}

DiskCacheLogSlot EncodeDiskCacheDead(uint64_t segment_id, const DiskCacheKey& key) {
  DiskCacheLogSlot slot{};
  slot.words = {key.hash.low, key.hash.high, key.size, 0, 0, 0};
  slot.kind = kDiskCacheDeadEntry;
  slot.sum = SlotSum(segment_id, slot);
  return slot;
}

DiskCacheLogScan ScanDiskCacheLog(uint64_t segment_id, std::span<const DiskCacheLogSlot> slots,
                                  const std::function<void(const DiskCacheLogFile& file, size_t position)>& on_file) {
  DiskCacheLogScan scan;
  std::vector<uint64_t> sums;
  for (size_t at = 0; at < slots.size();) {
    const DiskCacheLogSlot& slot = slots[at];
    const size_t here = at++;
    if (IsEmpty(slot)) continue;
    scan.used_end = at;
    const bool whole = slot.sum == SlotSum(segment_id, slot);
    if (whole && slot.kind == kDiskCacheFileEntry && ReadFile(segment_id, slots.subspan(here), &sums)) {
      at = here + DiskCacheSlots(sums.size());
      scan.used_end = scan.known_end = at;
      scan.bad_tail = 0;
      on_file({.key = {.hash = {.low = slot.words[0], .high = slot.words[1]}, .size = slot.words[2]},
               .first_page = slot.number,
               .sums = sums},
              here);
    } else if (whole && slot.kind == kDiskCacheDeadEntry) {
      scan.bad_tail = 0;
      scan.known_end = at;
    } else if (whole && slot.kind == kDiskCacheMoreEntry) {
      // Of a file that is dead, damaged, or being written: then its first entry is to be read again, too.
    } else {
      ++scan.bad;
      ++scan.bad_tail;
    }
  }
  return scan;
}

}  // namespace augur
