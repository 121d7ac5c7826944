// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner.h"

// What the planner keeps in the warehouse.

namespace augur {
namespace {

// Added to the next use of what the warehouse may put out before anything else.
constexpr Position kUnprotected = Position{1} << 40;
// How far ahead things are kept when reads are dear, in tenths of the memory. What a visit to a tile brings for a
// horizon of H reads stays for H / 2 on average, so a memory of M reads has room for H = 2 M; a tenth less, as it does
// not come evenly.
constexpr uint64_t kHorizonTenths = 18;

}  // namespace

// Whether the warehouse has room for a file, or holds another that is needed later. Not for one that is needed just a
// little later: they would push each other out in turn.
bool Planner::KeepTakes(Position use, uint64_t bytes) const {
  const bool dear = Sweeps();
  if (dear && use != kNever && use > progress_.front() + Horizon()) return false;
  if (Pages(bytes) > limits_.kept_bytes_max) return false;
  // What is being read counts as if all of it were to be kept: else many reads would be begun for the same room.
  const uint64_t wanted = kept_.bytes() + coming_bytes() + Pages(bytes);
  if (wanted <= limits_.kept_bytes_max) return true;
  return kept_.LastBytes(wanted - limits_.kept_bytes_max, [&](Position late) {
    return dear ? late >= kUnprotected && use < late : MuchLater(late, use);
  });
}

// How many reads ahead the memory is to hold what a visit to a tile brings.
Position Planner::Horizon() const {
  return (limits_.kept_bytes_max + limits_.stock_bytes_max) * kHorizonTenths / 10 / track_.mean_bytes();
}

// By what the warehouse puts files out: the last use first. When reads are dear, what a visit brought is protected
// until the next visit to its tile; what is used after that can be brought by that visit.
Position Planner::KeepKey(Slot slot, Position use) const {
  if (use == kNever || !Sweeps() || use <= states_[slot].deadline) return use;
  return use + kUnprotected;
}

// Whether it is worth putting out what is used at `late` for what is used at `soon`.
bool Planner::MuchLater(Position late, Position soon) const {
  if (late == kNever || soon == kNever) return soon != kNever;
  const Position front = progress_.front();
  return late > front && late - front > 2 * (std::max(soon, front) - front) + kUrgentFilesMin;
}

void Planner::Keeps(EntryNumber file) {
  const Slot slot = track_.SlotOf(file);
  if (slot == kNoSlot || kept_.Contains(slot)) return;
  kept_.Add(slot, kNever, Pages(track_.PlaceOf(slot).bytes));
  Settle(slot);
}

void Planner::KeepsNot(EntryNumber file) {
  const Slot slot = track_.SlotOf(file);
  if (slot == kNoSlot || !kept_.Contains(slot)) return;
  kept_.Remove(slot);
  Settle(slot);
}

KeepPlan Planner::KeepWithRoom(EntryNumber file) {
  const Slot slot = track_.SlotOf(file);
  if (slot == kNoSlot || kept_.Contains(slot)) return {};
  const uint64_t bytes = Pages(track_.PlaceOf(slot).bytes);
  if (kept_.bytes() + bytes > limits_.kept_bytes_max) return {};
  kept_.Add(slot, NextUnread(slot), bytes);
  Settle(slot);
  return {.keep = true, .evict = {}};
}

// Room in the warehouse for a file that is next used at `use`; what is needed later than that has to go.
KeepPlan Planner::PlanKeep(Slot slot, Position use) {
  KeepPlan plan;
  const uint64_t bytes = track_.PlaceOf(slot).bytes;
  if (kept_.Contains(slot) || limits_.kept_bytes_max == 0 || !KeepTakes(use, bytes)) return plan;
  while (kept_.bytes() + Pages(bytes) > limits_.kept_bytes_max) {
    const auto [last_use, last] = kept_.last();
    if (last_use <= KeepKey(slot, use)) return plan;  // what was put out so far was needed later than this one
    plan.evict.push_back(track_.FileOf(last));
    kept_.Remove(last);
    Settle(last);
  }
  kept_.Add(slot, KeepKey(slot, use), Pages(bytes));
  plan.keep = true;
  return plan;
}

std::vector<EntryNumber> Planner::TakeKept() {
  std::vector<EntryNumber> files;
  while (!kept_.empty()) {
    const Slot slot = kept_.last().second;
    files.push_back(track_.FileOf(slot));
    kept_.Remove(slot);
    Settle(slot);
  }
  return files;
}

}  // namespace augur
