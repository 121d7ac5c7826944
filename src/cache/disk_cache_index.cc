// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_index.h"

#include <algorithm>

#include "base/check.h"
#include "cache/disk_cache_layout.h"

namespace augur {
namespace {

// A deque has nodes of 12 items with a pointer and what malloc needs: 2 bytes an item.
constexpr uint64_t kDequeBytes = 2;
constexpr uint64_t kNodeBytes = 80;
constexpr size_t kBucketsMin = 16;

// Of a file's sums beside its item.
uint64_t ManyBytes(uint64_t size) {
  return size > kDiskCacheBlockBytes ? kNodeBytes + DiskCacheBlocks(size) * sizeof(uint64_t) : 0;
}

}  // namespace

// The hash is a good one; this only brings its halves and the size together (the constant is 2^64 / golden ratio).
uint64_t DiskCacheIndex::Mixed(const DiskCacheKey& key) {
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
  const uint64_t mixed = (key.hash.low ^ (key.hash.high * kGolden) ^ key.size) * kGolden;
  return mixed ^ (mixed >> 29);
}

uint32_t DiskCacheIndex::Lookup(const Part& part, const DiskCacheKey& key, uint64_t mixed) {
  if (part.buckets.empty()) return kNone;
  uint32_t at = part.buckets[(mixed / kParts) & (part.buckets.size() - 1)];
  while (at != kNone && !(part.items[at].hash == key.hash && part.items[at].size == key.size)) at = part.items[at].next;
  return at;
}

// Twice the buckets, so that there is one for each item or more.
void DiskCacheIndex::Grow(Part* part) {
  std::vector<uint32_t> buckets(part->buckets.empty() ? kBucketsMin : part->buckets.size() * 2, kNone);
  for (const uint32_t first : part->buckets) {
    for (uint32_t at = first; at != kNone;) {
      Item& item = part->items[at];
      const uint32_t next = item.next;
      uint32_t& head = buckets[(Mixed({.hash = item.hash, .size = item.size}) / kParts) & (buckets.size() - 1)];
      item.next = head;
      head = at;
      at = next;
    }
  }
  part->buckets = std::move(buckets);
}

// Takes the item that `link` points to out of its bucket.
void DiskCacheIndex::Free(Part* part, uint32_t* link) {
  const uint32_t at = *link;
  Item& item = part->items[at];
  if (item.size > kDiskCacheBlockBytes) part->many.erase(at);
  part->many_bytes -= ManyBytes(item.size);
  *link = item.next;
  item.next = part->free;
  part->free = at;
  --part->count;
}

uint64_t DiskCacheIndex::BytesOf(const Part& part) {
  return part.items.size() * (sizeof(Item) + kDequeBytes) + part.buckets.size() * sizeof(uint32_t) + part.many_bytes;
}

// For one more file. While it grows, a part has its buckets once as they were and once doubled.
bool DiskCacheIndex::PartHasRoom(const Part& part, uint64_t size) const {
  uint64_t more = ManyBytes(size);
  if (part.free == kNone) more += sizeof(Item) + kDequeBytes;
  if (part.count >= part.buckets.size()) more += std::max(2 * part.buckets.size(), kBucketsMin) * sizeof(uint32_t);
  return BytesOf(part) + more <= part_bytes_max_;
}

bool DiskCacheIndex::HasRoom(const DiskCacheKey& key) const {
  const Part& part = parts_[Mixed(key) % kParts];
  const MutexLock lock(part.mu);
  return PartHasRoom(part, key.size);
}

bool DiskCacheIndex::Insert(const DiskCacheKey& key, uint32_t segment, uint32_t first_page,
                            std::span<const uint64_t> sums) {
  AUGUR_CHECK(key.size > 0 && key.size <= kDiskCacheFileBytesMax && sums.size() == DiskCacheBlocks(key.size));
  const uint64_t mixed = Mixed(key);
  Part& part = parts_[mixed % kParts];
  const MutexLock lock(part.mu);
  if (Lookup(part, key, mixed) != kNone) return false;
  if (!PartHasRoom(part, key.size)) {
    LeaveOut();
    return false;
  }
  if (part.count >= part.buckets.size()) Grow(&part);
  uint32_t at = part.free;
  if (at == kNone) {
    at = static_cast<uint32_t>(part.items.size());
    part.items.emplace_back();
  } else {
    part.free = part.items[at].next;
  }
  uint32_t& head = part.buckets[(mixed / kParts) & (part.buckets.size() - 1)];
  part.items[at] = {.hash = key.hash,
                    .sum = sums[0],
                    .size = static_cast<uint32_t>(key.size),
                    .first_page = first_page,
                    .segment = segment,
                    .next = head};
  head = at;
  if (sums.size() > 1) part.many[at].assign(sums.begin(), sums.end());
  part.many_bytes += ManyBytes(key.size);
  ++part.count;
  return true;
}

std::optional<DiskCacheIndex::Where> DiskCacheIndex::Find(const DiskCacheKey& key) const {
  const uint64_t mixed = Mixed(key);
  const Part& part = parts_[mixed % kParts];
  const MutexLock lock(part.mu);
  const uint32_t at = Lookup(part, key, mixed);
  if (at == kNone) return std::nullopt;
  const Item& item = part.items[at];
  Where where{.segment = item.segment, .first_page = item.first_page, .sums = {}};
  if (key.size > kDiskCacheBlockBytes) {
    where.sums = part.many.at(at);
  } else {
    where.sums.push_back(item.sum);
  }
  return where;
}

bool DiskCacheIndex::Contains(const DiskCacheKey& key) const {
  const uint64_t mixed = Mixed(key);
  const Part& part = parts_[mixed % kParts];
  const MutexLock lock(part.mu);
  return Lookup(part, key, mixed) != kNone;
}

bool DiskCacheIndex::Erase(const DiskCacheKey& key, uint32_t segment, uint32_t first_page) {
  const uint64_t mixed = Mixed(key);
  Part& part = parts_[mixed % kParts];
  const MutexLock lock(part.mu);
  const uint32_t wanted = Lookup(part, key, mixed);
  if (wanted == kNone || part.items[wanted].segment != segment || part.items[wanted].first_page != first_page) {
    return false;
  }
  uint32_t* link = &part.buckets[(mixed / kParts) & (part.buckets.size() - 1)];
  while (*link != wanted) link = &part.items[*link].next;
  Free(&part, link);
  return true;
}

uint64_t DiskCacheIndex::EraseSegment(uint32_t segment) {
  uint64_t erased = 0;
  for (Part& part : parts_) {
    const MutexLock lock(part.mu);
    for (uint32_t& bucket : part.buckets) {
      uint32_t* link = &bucket;
      while (*link != kNone) {
        if (part.items[*link].segment == segment) {
          Free(&part, link);
          ++erased;
        } else {
          link = &part.items[*link].next;
        }
      }
    }
  }
  return erased;
}

uint64_t DiskCacheIndex::file_count() const {
  uint64_t count = 0;
  for (const Part& part : parts_) {
    const MutexLock lock(part.mu);
    count += part.count;
  }
  return count;
}

uint64_t DiskCacheIndex::memory_bytes() const {
  uint64_t bytes = sizeof(*this);
  for (const Part& part : parts_) {
    const MutexLock lock(part.mu);
    bytes += BytesOf(part);
  }
  return bytes;
}

}  // namespace augur
