// SPDX-License-Identifier: Apache-2.0
#include "prefetch/visit_deadlines.h"

#include <algorithm>

namespace augur {

void VisitDeadlines::Set(std::span<const Slot> region, Position end) {
  for (const Slot file : region) deadlines_[file] = end;
}

Position VisitDeadlines::Key(Slot slot, Position use) const {
  if (use == kNever || !mode_.in_regions() || Covers(slot, use)) return use;
  return use + kUnprotected;
}

void VisitDeadlines::Shorten(Slot evicted, Position key) {
  if (!mode_.in_regions() || key >= kUnprotected || !regions_.used()) return;
  for (const Slot file : regions_.Around(evicted)) {
    deadlines_[file] = std::min(deadlines_[file], key - std::min<Position>(key, 1));
  }
}

}  // namespace augur
