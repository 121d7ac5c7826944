// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "prefetch/file_states.h"
#include "prefetch/page_cache_window.h"
#include "prefetch/planner_input.h"
#include "prefetch/plans.h"

namespace augur {

// RetentionPlanner decides which files the retained cache keeps: those that are needed soonest (Belady's rule, see
// UseQueue). Not synchronized; no I/O, no clock.
class RetentionPlanner {
 public:
  // REQUIRES: all outlive it.
  RetentionPlanner(const PlannerInput& in, FileStates& files, const PageCacheWindow& window)
      : in_(in), files_(files), window_(window) {}

  // Of kept files, now.
  uint64_t bytes_max() const;
  // There is room for the file, or another one is needed later.
  bool Takes(Slot slot, Position use) const;
  // The further bytes that there is room for without evicting a file, beside those that are being read.
  uint64_t room() const;
  // Room for a file that is next used at `use`; files that are needed later have to go. Then Reclassify.
  RetainPlan Plan(Slot slot, Position use);
  // The same, but no other file has to go. A file of WarmFiles is kept whatever else serves it.
  RetainPlan PlanWithRoom(Slot slot);
  // The retained cache has the file although no plan said so, or has it no longer.
  void SetRetained(Slot slot);
  void SetNotRetained(Slot slot);
  // The retained cache was emptied: returns what it had.
  std::vector<EntryNumber> TakeAll();

 private:
  bool IsMuchLater(Position late, Position soon) const;

  const PlannerInput& in_;
  FileStates& files_;
  const PageCacheWindow& window_;
};

}  // namespace augur
