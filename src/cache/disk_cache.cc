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

// What waits to be written down as wrong; a disk that gives back nothing but rubbish must not fill the memory.
constexpr size_t kForgottenMax = 4096;

}  // namespace

uint64_t DiskCache::SegmentBytes(uint64_t bytes_max) {
  constexpr uint64_t kUsual = 256 * kMiB;
  constexpr uint64_t kParts = 16;
  constexpr uint64_t kCountMax = 1024;
  const uint64_t bytes = std::max(std::min(bytes_max / kParts, kUsual), bytes_max / kCountMax);
  return bytes / kDiskCachePageBytes * kDiskCachePageBytes;
}

DiskCache::DiskCache(Options options, DiskCacheFolder folder)
    : options_(std::move(options)),
      segment_bytes_(options_.segment_bytes != 0 ? options_.segment_bytes : SegmentBytes(options_.bytes_max)),
      opened_ns_(Now()),
      folder_(std::move(folder)),
      index_(options_.index_bytes_max) {}

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
    cache->HoldToBound(notes);
  }
  cache->Look(notes);
  return cache;
}

DiskCache::~DiskCache() {
  const MutexLock lock(look_mu_);
  KillForgotten();
  const std::vector<SegmentRef> segments = [this] {
    const MutexLock segments_lock(segments_mu_);
    return segments_;
  }();
  const int64_t now_ns = Now();
  for (const SegmentRef& segment : segments) {
    if (segment) segment->FlushUsage(now_ns, INT64_MAX);  // the time of use, for those who come later
  }
}

int64_t DiskCache::Now() const {
  if (options_.now_ns) return options_.now_ns();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

uint64_t DiskCache::Place::BlockBytes(size_t block) const {
  AUGUR_CHECK(block < sums.size());
  return std::min(key.size - block * kDiskCacheBlockBytes, kDiskCacheBlockBytes);
}

DiskCache::SegmentRef DiskCache::Get(uint32_t number) const {
  const MutexLock lock(segments_mu_);
  return segments_[number];
}

std::optional<DiskCache::Place> DiskCache::Find(const DiskCacheKey& key) {
  if (std::optional<DiskCacheIndex::Where> where = index_.Find(key)) {
    if (const SegmentRef segment = Get(where->segment)) {
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
  if (!index_.Erase(place.key, place.segment, static_cast<uint32_t>(place.offset / kDiskCachePageBytes))) return;
  forgotten_count_.fetch_add(1, std::memory_order_relaxed);
  const MutexLock lock(forgotten_mu_);
  if (forgotten_.size() < kForgottenMax) forgotten_.push_back(place);
}

DiskCache::Inserted DiskCache::Insert(const DiskCacheKey& key, DiskCacheWriter::Pieces pieces) {
  uint64_t bytes = 0;
  for (const std::span<const std::byte> piece : pieces) bytes += piece.size();
  AUGUR_CHECK(bytes == key.size);
  const MutexLock lock(write_mu_);
  if (index_.Contains(key)) return Inserted::kPresent;

  const auto refuse = [&](const Status& cause, int64_t now_ns, uint64_t from_bytes) AUGUR_REQUIRES(write_mu_) {
    refused_ns_ = now_ns;
    refused_bytes_ = from_bytes;
    const MutexLock counters_lock(counters_mu_);
    if (cause.code() == Code::kNoSpace || cause.code() == Code::kBusy) {
      ++counters_.no_room;
      return Inserted::kNoRoom;
    }
    ++counters_.failed;
    failure_ = cause;
    return Inserted::kFailed;
  };
  const int64_t now_ns = Now();
  const int64_t pace_ns = int64_t{options_.look_ms} * 1'000'000;
  const bool too_soon = refused_ns_ != 0 && now_ns >= refused_ns_ && now_ns - refused_ns_ < pace_ns;
  bool fits = bytes > 0 && bytes <= kDiskCacheFileBytesMax;
  if (fits && !index_.HasRoom(key)) {
    index_full_ = true;
    fits = false;
  }
  if (!fits || !folder_.writable().ok() || (too_soon && bytes >= refused_bytes_)) {
    const MutexLock counters_lock(counters_mu_);
    ++counters_.no_room;
    return Inserted::kNoRoom;
  }
  if (writer_ && !Get(writer_number_)) writer_.reset();  // another process has removed its segment
  if (!writer_ || !writer_->Fits(bytes)) {
    if (const Status status = NextSegment(bytes); !status.ok()) return refuse(status, now_ns, bytes);
  }
  const Result<DiskCacheWriter::Written> written = writer_->Append(key, pieces);
  if (!written.ok()) {
    writer_.reset();
    return refuse(written.status(), now_ns, 0);
  }
  index_.Insert(key, writer_number_, written->first_page, written->sums);
  if (const SegmentRef segment = Get(writer_number_)) segment->MarkUsed();
  const MutexLock counters_lock(counters_mu_);
  ++counters_.inserted;
  counters_.inserted_bytes += bytes;
  return Inserted::kYes;
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
  counters.memory_bytes = index_.memory_bytes();
  counters.found = found_.load(std::memory_order_relaxed);
  counters.missed = missed_.load(std::memory_order_relaxed);
  counters.forgotten = forgotten_count_.load(std::memory_order_relaxed);
  const MutexLock lock(segments_mu_);
  for (const SegmentRef& segment : segments_) counters.segments += segment ? 1 : 0;
  return counters;
}

}  // namespace augur
