// SPDX-License-Identifier: Apache-2.0
#include "prefetch/warm_planner.h"

#include <utility>
#include <vector>

namespace augur {

void WarmPlanner::Begin(const Order& files) {
  in_.schedule.Meet(files);
  files_.Meet();
  std::vector<Slot> slots;
  slots.reserve(files.size());
  for (const EntryNumber file : files) slots.push_back(in_.schedule.SlotOf(file));
  for (const Slot slot : slots) files_.staging().TryAnew(slot);
  in_.warm.Begin(std::move(slots), in_.schedule.slot_count());
  reads_.LookAgain();
}

WarmCount WarmPlanner::Count() const {
  WarmCount count;
  for (const Slot slot : in_.warm.files()) {
    if (files_.retained().Contains(slot)) {
      ++count.kept_files;
      count.kept_bytes += in_.schedule.PlaceOf(slot).bytes;
    } else if (files_.staging().IsBad(slot)) {
      ++count.unreadable_files;
    } else if (!in_.warm.active()) {
      continue;
    } else if (files_.staging().IsReading(slot) || files_.pages().IsPushing(slot) || admission_.WantsWarm(slot)) {
      count.running = true;
    }
  }
  return count;
}

bool WarmPlanner::Has(EntryNumber file) const {
  const Slot slot = in_.schedule.SlotOf(file);
  return slot != kNoSlot && in_.warm.Has(slot);
}

bool WarmPlanner::IsRetained(EntryNumber file) const {
  const Slot slot = in_.schedule.SlotOf(file);
  return slot != kNoSlot && files_.retained().Contains(slot);
}

}  // namespace augur
