// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "cache/disk_cache_layout.h"
#include "cache/disk_cache_sum.h"

namespace augur {
namespace {

DiskCacheOptions Completed(DiskCacheOptions options) {
  if (options.segment_bytes == 0) options.segment_bytes = DiskCache::SegmentBytes(options.bytes_max);
  return options;
}

}  // namespace

uint64_t DiskCache::SegmentBytes(uint64_t bytes_max) {
  constexpr uint64_t kUsual = 256 * kMiB;
  constexpr uint64_t kParts = 16;
  constexpr uint64_t kCountMax = 1024;
  const uint64_t bytes = std::max(std::min(bytes_max / kParts, kUsual), bytes_max / kCountMax);
  return bytes / kDiskCachePageBytes * kDiskCachePageBytes;
}

DiskCache::DiskCache(Options options, DiskCacheFolder folder)
    : options_(Completed(std::move(options))),
      opened_ns_(Now()),
      folder_(std::move(folder)),
      index_(options_.index_bytes_max),
      segments_(folder_, index_),
      filler_(options_, folder_, segments_),
      watch_(options_, folder_, index_, segments_),
      eviction_(options_.bytes_max, folder_, segments_) {}

Result<std::unique_ptr<DiskCache>> DiskCache::Open(const Options& options, std::vector<std::string>& notes) {
  if (options.folder.empty()) return Status(Code::kInvalid, "no folder for cached files: name one");
  if (options.bytes_max < kBytesMin) {
    return Status(Code::kInvalid, "a cache of cached files of " + FormatSize(options.bytes_max) +
                                      " is too small: give it " + FormatSize(kBytesMin) + " or more");
  }
  AUGUR_TRY_ASSIGN(folder, DiskCacheFolder::Open(options.folder));
  std::unique_ptr<DiskCache> cache(new DiskCache(options, std::move(folder)));
  const MutexLock lock(cache->look_mu_);
  if (!cache->folder_.writable().ok()) {
    notes.push_back("nothing is added to the cached files: " + cache->folder_.writable().text());
  } else {
    cache->eviction_.HoldToBound(cache->Run(), notes);
  }
  cache->watch_.Look(cache->Now(), notes);
  return cache;
}

DiskCache::~DiskCache() {
  const MutexLock lock(look_mu_);
  segments_.KillForgotten();
  const int64_t now_ns = Now();
  // The time of use, for those who come later.
  for (const DiskCacheSegments::Ref& segment : segments_.All()) segment->FlushUsage(now_ns, INT64_MAX);
}

int64_t DiskCache::Now() const {
  if (options_.now_ns) return options_.now_ns();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

DiskCacheRun DiskCache::Run() const {
  return {.opened_ns = opened_ns_,
          .now_ns = Now(),
          .lookups = found_.load(std::memory_order_relaxed) + missed_.load(std::memory_order_relaxed),
          .segments = 0,
          .lookups_per_segment = options_.lookups_per_segment};
}

uint64_t DiskCache::Place::BlockBytes(size_t block) const {
  AUGUR_CHECK(block < sums.size());
  return std::min(key.size - block * kDiskCacheBlockBytes, kDiskCacheBlockBytes);
}

std::optional<DiskCache::Place> DiskCache::Find(const DiskCacheKey& key) {
  if (std::optional<DiskCacheIndex::Where> where = index_.Find(key)) {
    if (const DiskCacheSegments::Ref segment = segments_.Get(where->segment)) {
      segment->MarkUsed();
      found_.fetch_add(1, std::memory_order_relaxed);
      return Place{.key = key,
                   .file = segment->file(),
                   .offset = uint64_t{where->first_page} * kDiskCachePageBytes,
                   .sums = std::move(where->sums),
                   .segment = where->segment};
    }
    // Inserted while its segment was dropped.
    index_.Erase(key, where->segment, where->first_page);
  }
  missed_.fetch_add(1, std::memory_order_relaxed);
  return std::nullopt;
}

bool DiskCache::Check(const Place& place, size_t block, std::span<const std::byte> bytes) {
  return bytes.size() == place.BlockBytes(block) && DiskCacheSum(bytes) == place.sums[block];
}

void DiskCache::Forget(const Place& place) {
  if (segments_.Forget(place.key, place.segment, static_cast<uint32_t>(place.offset / kDiskCachePageBytes))) {
    forgotten_.fetch_add(1, std::memory_order_relaxed);
  }
}

Status DiskCache::InsertAbsent(const DiskCacheKey& key, DiskCacheWriter::Pieces pieces) {
  const int64_t now_ns = Now();
  Status no_room(Code::kNoSpace, "there is no room for it now");
  if (key.size == 0 || key.size > kDiskCacheFileBytesMax) return no_room;
  if (!index_.HasRoom(key)) {
    index_.LeaveOut();
    return no_room;
  }
  if (!folder_.writable().ok() || filler_.IsTooSoon(key.size, now_ns)) return no_room;
  if (!filler_.Fits(key.size)) {
    const MutexLock lock(look_mu_);
    AUGUR_TRY(filler_.Next(key.size, Run(), eviction_));
  }
  return filler_.Append(key, pieces, now_ns);
}

DiskCache::Inserted DiskCache::Insert(const DiskCacheKey& key, DiskCacheWriter::Pieces pieces) {
  uint64_t bytes = 0;
  for (const std::span<const std::byte> piece : pieces) bytes += piece.size();
  AUGUR_CHECK(bytes == key.size);
  const MutexLock lock(write_mu_);
  if (index_.Contains(key)) return Inserted::kPresent;
  const Status status = InsertAbsent(key, pieces);
  const MutexLock counters_lock(counters_mu_);
  if (status.ok()) {
    ++counters_.inserted;
    counters_.inserted_bytes += bytes;
    return Inserted::kYes;
  }
  if (status.code() == Code::kNoSpace || status.code() == Code::kBusy) {
    ++counters_.no_room;
    return Inserted::kNoRoom;
  }
  ++counters_.failed;
  failure_ = status;
  return Inserted::kFailed;
}

bool DiskCache::Refresh(std::vector<std::string>& notes) {
  const MutexLock lock(look_mu_);
  return watch_.Look(Now(), notes);
}

Status DiskCache::failure() const {
  const MutexLock lock(counters_mu_);
  return failure_;
}

DiskCacheCounters DiskCache::counters() const {
  DiskCacheCounters counters;
  {
    const MutexLock lock(counters_mu_);
    counters = counters_;
  }
  counters.files = index_.file_count();
  counters.bytes = segments_.folder_bytes;
  counters.segments = segments_.count();
  counters.memory_bytes = index_.memory_bytes();
  counters.found = found_.load(std::memory_order_relaxed);
  counters.missed = missed_.load(std::memory_order_relaxed);
  counters.forgotten = forgotten_.load(std::memory_order_relaxed);
  counters.put_out = segments_.evicted;
  counters.bad_entries = segments_.bad_entries;
  return counters;
}

}  // namespace augur
