// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_eviction.h"

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace augur {

uint64_t DiskCacheEviction::room() const { return bytes_max_ - std::min<uint64_t>(bytes_max_, segments_.folder_bytes); }

// Not if this run has used it, or any process since the cache was opened, or within a day.
bool DiskCacheEviction::MayGo(const DiskCacheFolder::Segment& found, const DiskCacheRun& run) const {
  if (!IsOfOldDiskCacheRuns(run, found.modified_ns)) return false;
  const DiskCacheSegments::Ref segment = segments_.Find(found.name);
  if (!segment) return true;
  return !segment->marked() && (segment->last_used_ns() == 0 || IsOfOldDiskCacheRuns(run, segment->last_used_ns()));
}

bool DiskCacheEviction::EvictOldest(const DiskCacheRun& run, bool any_age, Listing& listing) {
  // A time to come counts as the beginning of time.
  const auto age_of = [&](const DiskCacheFolder::Segment& segment) {
    return segment.modified_ns > run.now_ns + kDiskCacheRestNs ? 0 : segment.modified_ns;
  };
  std::sort(listing.begin(), listing.end(), [&](const auto& one, const auto& two) {
    return std::pair(age_of(one), one.name) < std::pair(age_of(two), two.name);
  });
  for (auto oldest = listing.begin(); oldest != listing.end(); ++oldest) {
    if (!any_age && !MayGo(*oldest, run)) continue;
    if (!folder_.Remove(*oldest)) continue;
    if (const DiskCacheSegments::Ref segment = segments_.Find(oldest->name)) segments_.Drop(*segment);
    segments_.folder_bytes -= oldest->bytes;
    ++segments_.evicted;
    listing.erase(oldest);
    return true;
  }
  return false;
}

void DiskCacheEviction::HoldToBound(const DiskCacheRun& run, std::vector<std::string>& notes) {
  const DiskCacheFolder::Lock lock(folder_);
  Result<Listing> listing = folder_.List();
  if (!lock.status().ok() || !listing.ok()) return;
  std::erase_if(*listing, [this](const DiskCacheFolder::Segment& found) { return folder_.RemoveUnborn(found); });
  const uint64_t before = DiskCacheFolder::BytesOf(*listing);
  segments_.folder_bytes = before;
  while (segments_.folder_bytes > bytes_max_) {
    if (!EvictOldest(run, true, *listing)) break;
  }
  const uint64_t after = segments_.folder_bytes;
  if (after < before) {
    notes.push_back(folder_.path() + ": cached files of " + FormatSize(before - after) +
                    " were removed: it has more than " + FormatSize(bytes_max_));
  }
  if (after > bytes_max_) {
    notes.push_back(folder_.path() + ": cached files take " + FormatSize(after) + ", more than " +
                    FormatSize(bytes_max_) + ", and are in use: nothing is added");
  }
}

void DiskCacheEviction::MakeRoom(uint64_t bytes, DiskCacheRun run, Listing& listing) {
  run.segments = listing.size();
  if (!DiskCacheRunKnowsItsOwn(run)) return;
  while (room() < bytes) {
    if (!EvictOldest(run, false, listing)) break;
  }
}

}  // namespace augur
