// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_admission.h"

#include "cache/buffer_pool.h"

namespace augur {
// Where nothing is pushed the staging holds the files from the front to here, each in memory of its own. Were it to
// hold later ones too, the next file might find no room until the reader has asked for it.
Position ReadAdmission::StagingEnd() const {
  return in_.reader.front() + in_.limits.staging_bytes_max / (in_.schedule.mean_bytes() + BufferPool::kGranuleBytes);
}

bool ReadAdmission::Takes(Slot slot, Position use) const {
  // Where nothing is pushed, a held file waits for the reader's own READ.
  if (in_.limits.push_window_bytes_max == 0 && use != kNever && use <= StagingEnd()) return true;
  if (window_.Takes(use, in_.schedule.PlaceOf(slot).bytes)) return true;
  // Where reads are cheap, a file that is not needed soon can as well be read later: a way through the retained cache
  // would cost another copy. It is kept after it was pushed, for the next epoch.
  const bool through_retained = in_.mode.in_regions() || in_.ReadsAllFiles() || use == kNever;
  return through_retained && retention_.Takes(slot, use);
}

// A file of WarmFiles is read for the retained cache, whatever the page cache has.
bool ReadAdmission::WantsWarm(Slot slot) const {
  const Staging& staging = files_.staging();
  if (!in_.warm.Contains(slot) || staging.IsBad(slot) || in_.IsTooLong(slot)) return false;
  const bool comes = staging.IsReading(slot) || staging.Holds(slot) || files_.pages().IsPushing(slot);
  return !comes && !files_.retained().Contains(slot) && in_.PagesOf(slot) <= retention_.room();
}

bool ReadAdmission::Wants(Slot slot) const {
  if (in_.schedule.PlaceOf(slot).bytes == 0) return false;  // an empty file has nothing to read
  if (files_.staging().IsBad(slot) || in_.IsTooLong(slot)) return false;
  if (WantsWarm(slot)) return true;
  const Position use = in_.NextUnread(slot);
  if (files_.IsResident(slot)) {
    // A file that only the page cache has may be gone from there unseen: a fill brings it too.
    const Staging& staging = files_.staging();
    const bool only_cached = !staging.IsReading(slot) && !staging.Holds(slot) && !files_.pages().IsPushing(slot) &&
                             !files_.retained().Contains(slot);
    return only_cached && in_.fill && use == kNever && !window_.HoldsAll() && retention_.Takes(slot, use);
  }
  if (use == kNever && !in_.fill) return false;
  if (use == kNever && files_.pages().IsUnpushable(slot)) return retention_.Takes(slot, use);
  return Takes(slot, use);
}

Arrival ReadAdmission::Arrived(const ReadPlan::Item& item, bool ok) {
  files_.staging().Arrive(item, ok);
  if (!ok) return {.retain = {}, .hold = false};
  const Slot slot = in_.schedule.SlotOf(item.file);
  const PageCacheFiles& pages = files_.pages();
  const Position use = in_.NextUnread(slot);
  const bool sentinel = use != kNever && in_.IsSentinel(use);
  Arrival arrival;
  // One that is kept is pushed from there.
  if (in_.warm.Contains(slot)) arrival.retain = retention_.PlanWithRoom(slot);
  const bool warm = arrival.retain.retain;
  // A file that can go to the page cache at once waits for that in the staging; Pushed decides whether to keep it.
  const bool to_push = !warm && !sentinel && !pages.Contains(slot) &&
                       (use != kNever || (in_.fill && !pages.IsUnpushable(slot))) &&
                       window_.Takes(use, item.place.bytes);
  if (!to_push && !warm) {
    arrival.retain = retention_.Plan(slot, use);
  } else if (to_push && in_.mode.in_regions() && use != kNever) {
    // Its reader may be waiting for it, and take it before it is pushed: then no Pushed asks again.
    const Position second = in_.schedule.NextUse(slot, use + 1);
    if (second != kNever && files_.deadlines().Covers(slot, second)) arrival.retain = retention_.Plan(slot, second);
  }
  // It waits for its READ: also when its open was told before it came, and it was not read since. What is rendered has
  // answered a READ that waited for it, and waits for the others of that file: each would render it anew.
  const bool opened = in_.reader.IsBeingRead(slot) && (item.place.rendered || !pages.Contains(slot));
  const bool for_read = opened || (in_.limits.push_window_bytes_max == 0 && use != kNever);
  arrival.hold = !arrival.retain.retain && (to_push || sentinel || for_read);
  arrival.copy = arrival.hold && !to_push;
  if (arrival.hold) files_.staging().Hold(slot);
  files_.Reclassify(slot);
  return arrival;
}

}  // namespace augur
