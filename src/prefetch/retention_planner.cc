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
    return limits.kept_bytes_max - std::min(limits.kept_bytes_max, lent);
  }
  if (!in_.mode.in_regions()) return limits.kept_bytes_max;
  const uint64_t spare = limits.push_window_bytes_max - std::min(limits.push_window_bytes_max, pushed);
  return limits.kept_bytes_max + std::min(limits.lent_window_bytes_max, spare);
}

// Where reads are cheap, not for a file that is needed just a little later than another: the two would evict each other
// in turn.
bool RetentionPlanner::Takes(Slot slot, Position use) const {
  const UseQueue& kept = files_.kept();
  const uint64_t bytes = in_.PagesOf(slot);
  if (bytes > bytes_max()) return false;
  if (in_.mode.in_regions()) {
    if (use != kNever && !files_.deadlines().Covers(slot, use)) return false;
    const uint64_t wanted = kept.bytes() + bytes;
    if (wanted <= bytes_max()) return true;
    return kept.LastBytes(wanted - bytes_max(), [use](Position late) { return use < late; });
  }
  // All that is being read counts as if it were to be kept: else many reads would be begun for the same room.
  const uint64_t wanted = kept.bytes() + files_.staging().coming_bytes() + bytes;
  if (wanted <= bytes_max()) return true;
  return kept.LastBytes(wanted - bytes_max(), [this, use](Position late) { return IsMuchLater(late, use); });
}

// Whether it is worth evicting a file that is used at `late` for one that is used at `soon`.
bool RetentionPlanner::IsMuchLater(Position late, Position soon) const {
  if (late == kNever || soon == kNever) return soon != kNever;
  const Position front = in_.reader.front();
  return late > front && late - front > 2 * (std::max(soon, front) - front) + PlannerInput::kUrgentFiles;
}

KeepPlan RetentionPlanner::Plan(Slot slot, Position use) {
  KeepPlan plan;
  UseQueue& kept = files_.kept();
  if (kept.Contains(slot) || window_.Serves(slot) || bytes_max() == 0 || !Takes(slot, use)) return plan;
  const uint64_t bytes = in_.PagesOf(slot);
  while (kept.bytes() + bytes > bytes_max()) {
    const auto [last_key, last] = kept.last();
    // The files that were evicted so far are needed later than this one.
    if (last_key <= files_.deadlines().Key(slot, use)) return plan;
    plan.evict.push_back(in_.schedule.FileOf(last));
    kept.Remove(last);
    files_.deadlines().Shorten(last, last_key);
    files_.Reclassify(last);
  }
  kept.Add(slot, files_.deadlines().Key(slot, use), bytes);
  plan.keep = true;
  return plan;
}

uint64_t RetentionPlanner::room() const {
  const uint64_t taken = files_.kept().bytes() + files_.staging().coming_bytes();
  const uint64_t most = std::min(bytes_max(), in_.limits.kept_bytes_max);
  return most - std::min(most, taken);
}

KeepPlan RetentionPlanner::PlanWithRoom(Slot slot) {
  UseQueue& kept = files_.kept();
  if (kept.Contains(slot) || (window_.Serves(slot) && !in_.warm.Contains(slot))) return {};
  const uint64_t bytes = in_.PagesOf(slot);
  if (kept.bytes() + bytes > in_.limits.kept_bytes_max) return {};
  kept.Add(slot, in_.NextUnread(slot), bytes);
  files_.Reclassify(slot);
  return {.keep = true, .evict = {}};
}

void RetentionPlanner::Keeps(Slot slot) {
  if (files_.kept().Contains(slot)) return;
  files_.kept().Add(slot, kNever, in_.PagesOf(slot));
  files_.Reclassify(slot);
}

void RetentionPlanner::KeepsNot(Slot slot) {
  if (!files_.kept().Contains(slot)) return;
  files_.kept().Remove(slot);
  files_.Reclassify(slot);
}

std::vector<EntryNumber> RetentionPlanner::TakeAll() {
  std::vector<EntryNumber> files;
  while (!files_.kept().empty()) {
    const Slot slot = files_.kept().last().second;
    files.push_back(in_.schedule.FileOf(slot));
    KeepsNot(slot);
  }
  return files;
}

}  // namespace augur
