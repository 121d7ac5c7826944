// SPDX-License-Identifier: Apache-2.0
#include "prefetch/retention_planner.h"

#include <algorithm>

namespace augur {

// The retained cache's own bytes, but for those that it lends to the page cache where that holds everything; in regions
// also the free ones of the page cache's window.
uint64_t RetentionPlanner::bytes_max() const {
  const PlannerLimits& limits = in_.limits;
  const uint64_t pushed = files_.pages().window_bytes();
  if (window_.HoldsAll()) {
    const uint64_t lent = pushed - std::min(pushed, limits.push_window_bytes_max);
    return limits.retained_bytes_max - std::min(limits.retained_bytes_max, lent);
  }
  if (!in_.mode.in_regions()) return limits.retained_bytes_max;
  const uint64_t spare = limits.push_window_bytes_max - std::min(limits.push_window_bytes_max, pushed);
  return limits.retained_bytes_max + std::min(limits.lent_window_bytes_max, spare);
}

// Where reads are cheap, not for a file that is needed just a little later than another: the two would evict each other
// in turn.
bool RetentionPlanner::Takes(Slot slot, Position use) const {
  const UseQueue& retained = files_.retained();
  const uint64_t bytes = in_.PagesOf(slot);
  if (bytes > bytes_max()) return false;
  if (in_.mode.in_regions()) {
    if (use != kNever && !files_.deadlines().Covers(slot, use)) return false;
    const uint64_t wanted = retained.bytes() + bytes;
    if (wanted <= bytes_max()) return true;
    return retained.LastBytes(wanted - bytes_max(), [use](Position late) { return use < late; });
  }
  // All that is being read counts as if it were to be kept: else many reads would be begun for the same room.
  const uint64_t wanted = retained.bytes() + files_.staging().coming_bytes() + bytes;
  if (wanted <= bytes_max()) return true;
  return retained.LastBytes(wanted - bytes_max(), [this, use](Position late) { return IsMuchLater(late, use); });
}

// Whether it is worth evicting a file that is used at `late` for one that is used at `soon`.
bool RetentionPlanner::IsMuchLater(Position late, Position soon) const {
  if (late == kNever || soon == kNever) return soon != kNever;
  const Position front = in_.reader.front();
  return late > front && late - front > 2 * (std::max(soon, front) - front) + PlannerInput::kUrgentFiles;
}

RetainPlan RetentionPlanner::Plan(Slot slot, Position use) {
  RetainPlan plan;
  UseQueue& retained = files_.retained();
  if (retained.Contains(slot) || window_.Serves(slot) || bytes_max() == 0 || !Takes(slot, use)) return plan;
  const uint64_t bytes = in_.PagesOf(slot);
  while (retained.bytes() + bytes > bytes_max()) {
    const auto [last_key, last] = retained.last();
    // The files that were evicted so far are needed later than this one.
    if (last_key <= files_.deadlines().Key(slot, use)) return plan;
    plan.evict.push_back(in_.schedule.FileOf(last));
    retained.Remove(last);
    files_.deadlines().Shorten(last, last_key);
    files_.Reclassify(last);
  }
  retained.Add(slot, files_.deadlines().Key(slot, use), bytes);
  plan.retain = true;
  return plan;
}

uint64_t RetentionPlanner::room() const {
  const uint64_t taken = files_.retained().bytes() + files_.staging().coming_bytes();
  const uint64_t most = std::min(bytes_max(), in_.limits.retained_bytes_max);
  return most - std::min(most, taken);
}

RetainPlan RetentionPlanner::PlanWithRoom(Slot slot) {
  UseQueue& retained = files_.retained();
  if (retained.Contains(slot) || (window_.Serves(slot) && !in_.warm.Contains(slot))) return {};
  const uint64_t bytes = in_.PagesOf(slot);
  if (retained.bytes() + bytes > in_.limits.retained_bytes_max) return {};
  retained.Add(slot, in_.NextUnread(slot), bytes);
  files_.Reclassify(slot);
  return {.retain = true, .evict = {}};
}

void RetentionPlanner::SetRetained(Slot slot) {
  if (files_.retained().Contains(slot)) return;
  files_.retained().Add(slot, kNever, in_.PagesOf(slot));
  files_.Reclassify(slot);
}

void RetentionPlanner::SetNotRetained(Slot slot) {
  if (!files_.retained().Contains(slot)) return;
  files_.retained().Remove(slot);
  files_.Reclassify(slot);
}

std::vector<EntryNumber> RetentionPlanner::TakeAll() {
  std::vector<EntryNumber> files;
  while (!files_.retained().empty()) {
    const Slot slot = files_.retained().last().second;
    files.push_back(in_.schedule.FileOf(slot));
    SetNotRetained(slot);
  }
  return files;
}

}  // namespace augur
