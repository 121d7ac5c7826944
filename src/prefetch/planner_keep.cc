// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner.h"

#include <algorithm>

// What the planner keeps in the retained cache.

namespace augur {
namespace {

// Added to the next use of what the retained cache may put out before anything else.
constexpr Position kUnprotected = Position{1} << 40;

}  // namespace

// Whether the retained cache has room for a file, or holds another that is needed later. Where reads are cheap, not for
// one that is needed just a little later: they would push each other out in turn.
bool Planner::KeepTakes(Slot slot, Position use) const {
  const uint64_t bytes = Pages(schedule_.PlaceOf(slot).bytes);
  if (bytes > KeptMax()) return false;
  if (Sweeps()) {
    if (use != kNever && use > states_[slot].deadline) return false;
    const uint64_t wanted = kept_.bytes() + bytes;
    if (wanted <= KeptMax()) return true;
    return kept_.LastBytes(wanted - KeptMax(), [use](Position late) { return use < late; });
  }
  // What is being read counts as if all of it were to be kept: else many reads would be begun for the same room.
  const uint64_t wanted = kept_.bytes() + coming_bytes() + bytes;
  if (wanted <= KeptMax()) return true;
  return kept_.LastBytes(wanted - KeptMax(), [this, use](Position late) { return MuchLater(late, use); });
}

// The retained cache's bytes: its own, but for what it lends to the stock; and where reads are dear those that the
// stock does not need.
uint64_t Planner::KeptMax() const {
  const uint64_t stocked = StockedBytes();
  if (PagesHoldAll()) {
    const uint64_t lent = stocked - std::min(stocked, limits_.stock_bytes_max);
    return limits_.kept_bytes_max - std::min(limits_.kept_bytes_max, lent);
  }
  if (!Sweeps()) return limits_.kept_bytes_max;
  const uint64_t spare = limits_.stock_bytes_max - std::min(limits_.stock_bytes_max, stocked);
  return limits_.kept_bytes_max + std::min(limits_.lent_bytes_max, spare);
}

// By what the retained cache puts files out: the last use first. When reads are dear, what a visit brought is protected
// until the next visit to its region; what is used after that can be brought by that visit.
Position Planner::KeepKey(Slot slot, Position use) const {
  if (use == kNever || !Sweeps() || use <= states_[slot].deadline) return use;
  return use + kUnprotected;
}

// Whether it is worth putting out what is used at `late` for what is used at `soon`.
bool Planner::MuchLater(Position late, Position soon) const {
  if (late == kNever || soon == kNever) return soon != kNever;
  const Position front = reader_.front();
  return late > front && late - front > 2 * (std::max(soon, front) - front) + kUrgentFilesMin;
}

void Planner::Keeps(EntryNumber file) {
  const Slot slot = schedule_.SlotOf(file);
  if (slot == kNoSlot || kept_.Contains(slot)) return;
  kept_.Add(slot, kNever, Pages(schedule_.PlaceOf(slot).bytes));
  Settle(slot);
}

void Planner::KeepsNot(EntryNumber file) {
  const Slot slot = schedule_.SlotOf(file);
  if (slot == kNoSlot || !kept_.Contains(slot)) return;
  kept_.Remove(slot);
  Settle(slot);
}

KeepPlan Planner::KeepWithRoom(EntryNumber file) {
  const Slot slot = schedule_.SlotOf(file);
  if (slot == kNoSlot || kept_.Contains(slot) || PagesServe(slot)) return {};
  const uint64_t bytes = Pages(schedule_.PlaceOf(slot).bytes);
  if (kept_.bytes() + bytes > limits_.kept_bytes_max) return {};
  kept_.Add(slot, NextUnread(slot), bytes);
  Settle(slot);
  return {.keep = true, .evict = {}};
}

// Room in the retained cache for a file that is next used at `use`; what is needed later than that has to go.
KeepPlan Planner::PlanKeep(Slot slot, Position use) {
  KeepPlan plan;
  const uint64_t bytes = schedule_.PlaceOf(slot).bytes;
  if (kept_.Contains(slot) || PagesServe(slot) || KeptMax() == 0 || !KeepTakes(slot, use)) return plan;
  while (kept_.bytes() + Pages(bytes) > KeptMax()) {
    const auto [last_use, last] = kept_.last();
    if (last_use <= KeepKey(slot, use)) return plan;  // what was put out so far was needed later than this one
    plan.evict.push_back(schedule_.FileOf(last));
    kept_.Remove(last);
    Shorten(last, last_use);
    Settle(last);
  }
  kept_.Add(slot, KeepKey(slot, use), Pages(bytes));
  plan.keep = true;
  return plan;
}

// What is put out first is the last of its region: the region will be visited for it, so it holds nothing beyond it.
void Planner::Shorten(Slot evicted, Position use) {
  if (!Sweeps() || use >= kUnprotected || !regions_.used()) return;
  for (const Slot file : regions_.Around(evicted)) {
    states_[file].deadline = std::min(states_[file].deadline, use - std::min<Position>(use, 1));
  }
}

std::vector<EntryNumber> Planner::TakeKept() {
  std::vector<EntryNumber> files;
  while (!kept_.empty()) {
    const Slot slot = kept_.last().second;
    files.push_back(schedule_.FileOf(slot));
    kept_.Remove(slot);
    Settle(slot);
  }
  return files;
}

}  // namespace augur
