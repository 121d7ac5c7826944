// SPDX-License-Identifier: Apache-2.0
// How a disk cache finds room for new files, and which ones it evicts.
#include <algorithm>
#include <utility>

#include "base/units.h"
#include "cache/disk_cache.h"
#include "cache/disk_cache_policy.h"

namespace augur {
namespace {

uint64_t Sum(const std::vector<DiskCacheFolder::Segment>& listing) {
  uint64_t total = 0;
  for (const DiskCacheFolder::Segment& segment : listing) total += segment.bytes;
  return total;
}

// The least part of a segment that is worth making, or growing, one for; otherwise the last bytes of the bound would
// become ever smaller segments.
constexpr uint64_t kLeastPart = 8;

}  // namespace

// Not if this run has used it, or any process since the cache was opened, or within a day.
bool DiskCache::MayGo(const DiskCacheFolder::Segment& found, int64_t now_ns) const {
  const DiskCacheRun run{
      .opened_ns = opened_ns_, .now_ns = now_ns, .lookups = 0, .segments = 0, .lookups_per_segment = 0};
  if (!IsOfOldDiskCacheRuns(run, found.modified_ns)) return false;
  const auto known = numbers_.find(found.name);
  if (known == numbers_.end()) return true;
  const SegmentRef segment = Get(known->second);
  return !segment->marked() && (segment->last_used_ns() == 0 || IsOfOldDiskCacheRuns(run, segment->last_used_ns()));
}

uint64_t DiskCache::PutOutOldest(Listing* listing, bool any_age) {
  const int64_t now_ns = Now();
  // A time to come counts as the beginning of time.
  const auto age_of = [&](const DiskCacheFolder::Segment& segment) {
    return segment.modified_ns > now_ns + kDiskCacheRestNs ? 0 : segment.modified_ns;
  };
  std::sort(listing->begin(), listing->end(), [&](const auto& one, const auto& two) {
    return std::pair(age_of(one), one.name) < std::pair(age_of(two), two.name);
  });
  for (auto oldest = listing->begin(); oldest != listing->end(); ++oldest) {
    if (!any_age && !MayGo(*oldest, now_ns)) continue;
    if (!folder_.Remove(*oldest)) continue;
    const uint64_t bytes = oldest->bytes;
    if (const auto known = numbers_.find(oldest->name); known != numbers_.end()) Drop(known->second);
    listing->erase(oldest);
    const MutexLock lock(counters_mu_);
    ++counters_.put_out;
    return bytes;
  }
  return 0;
}

// When the folder is opened: clears what a crash has left unborn, and what is over the bound, which may have been made
// smaller. Only what a daemon uses stays.
void DiskCache::HoldToBound(std::vector<std::string>& notes) {
  const DiskCacheFolder::Lock lock(folder_);
  Result<Listing> listing = folder_.List();
  if (!lock.status().ok() || !listing.ok()) return;
  std::erase_if(*listing, [this](const DiskCacheFolder::Segment& segment) { return folder_.RemoveUnborn(segment); });
  uint64_t total = Sum(*listing);
  uint64_t put_out = 0;
  while (total > options_.bytes_max) {
    const uint64_t bytes = PutOutOldest(&*listing, true);
    if (bytes == 0) break;
    total -= bytes;
    put_out += bytes;
  }
  if (put_out > 0) {
    notes.push_back(folder_.path() + ": cached files of " + FormatSize(put_out) + " were removed: it has more than " +
                    FormatSize(options_.bytes_max));
  }
  if (total > options_.bytes_max) {
    notes.push_back(folder_.path() + ": cached files take " + FormatSize(total) + ", more than " +
                    FormatSize(options_.bytes_max) + ", and are in use: nothing is added");
  }
}

// Goes on with a segment that another run has left, the newest one first, if the file fits and it is worth it.
bool DiskCache::AdoptSegment(uint64_t file_bytes, const Listing& listing, uint64_t room) {
  Listing newest = listing;
  std::sort(newest.begin(), newest.end(),
            [](const auto& one, const auto& two) { return one.modified_ns > two.modified_ns; });
  const uint64_t need = std::max(UpToDiskCachePage(file_bytes), segment_bytes_ / kLeastPart);
  for (const DiskCacheFolder::Segment& found : newest) {
    const auto known = numbers_.find(found.name);
    if (known == numbers_.end()) continue;
    const uint32_t number = known->second;
    const SegmentRef segment = Get(number);
    const uint64_t bytes = std::max(found.bytes, std::min(segment_bytes_, found.bytes + room));
    if (segment->inode() != found.inode || segment->data_end() + need > bytes) continue;
    Result<std::unique_ptr<DiskCacheWriter>> writer =
        DiskCacheWriter::Adopt(folder_, segment.get(), bytes, options_.direct, Indexer(number));
    if (!writer.ok() || !(*writer)->Fits(file_bytes)) continue;
    writer_ = std::move(writer).value();
    writer_number_ = number;
    segment->MarkUsed();
    return true;
  }
  return false;
}

Status DiskCache::MakeSegment(uint64_t file_bytes, Listing* listing, uint64_t* total) {
  // A file that is larger than a segment has one of its own.
  const uint64_t log_bytes = DiskCacheLogBytes(segment_bytes_);
  const uint64_t need = kDiskCacheHeaderBytes + log_bytes + UpToDiskCachePage(file_bytes);
  const uint64_t want = std::max(segment_bytes_, need);
  Status full(Code::kNoSpace, folder_.path() + ": the limit of cached files is reached");
  if (need > options_.bytes_max) return full;
  const auto room = [&] { return options_.bytes_max > *total ? options_.bytes_max - *total : 0; };

  const DiskCacheRun run{
      .opened_ns = opened_ns_,
      .now_ns = Now(),
      .lookups = found_.load(std::memory_order_relaxed) + missed_.load(std::memory_order_relaxed),
      .segments = listing->size(),
      .lookups_per_segment = options_.lookups_per_segment,
  };
  if (DiskCacheRunKnowsItsOwn(run)) {
    while (room() < want) {
      const uint64_t bytes = PutOutOldest(listing, false);
      if (bytes == 0) break;
      *total -= bytes;
    }
  }
  const uint64_t bytes = std::min(want, room() / kDiskCachePageBytes * kDiskCachePageBytes);
  if (bytes < std::max(need, want / kLeastPart)) return full;
  AUGUR_TRY_ASSIGN(writer, DiskCacheWriter::Create(folder_, bytes, log_bytes, options_.direct));
  AUGUR_TRY_ASSIGN(segment, DiskCacheSegment::Open(folder_, writer->name(), options_.direct));
  *total += bytes;
  segment->MarkUsed();
  writer_number_ = Add(segment);
  writer_ = std::move(writer);
  return Status::Ok();
}

Status DiskCache::NextSegment(uint64_t file_bytes) {
  const MutexLock lock(look_mu_);
  const DiskCacheFolder::Lock folder_lock(folder_);
  AUGUR_TRY(folder_lock.status());
  if (writer_) {
    writer_.reset();  // gives back what it did not use
    // So that its end is known when it is thought of for adoption, which is soon when files of many sizes come.
    if (const SegmentRef segment = Get(writer_number_)) (void)segment->ReadLog(folder_, Indexer(writer_number_));
  }
  AUGUR_TRY_ASSIGN(listing, folder_.List());
  uint64_t total = Sum(listing);
  const uint64_t room = options_.bytes_max > total ? options_.bytes_max - total : 0;
  Status made = AdoptSegment(file_bytes, listing, room) ? Status::Ok() : MakeSegment(file_bytes, &listing, &total);
  const MutexLock counters_lock(counters_mu_);
  counters_.bytes = total;
  return made;
}

}  // namespace augur
