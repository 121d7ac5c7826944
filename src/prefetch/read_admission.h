// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prefetch/file_states.h"
#include "prefetch/page_cache_window.h"
#include "prefetch/planner_input.h"
#include "prefetch/plans.h"
#include "prefetch/retention_planner.h"

namespace augur {

// ReadAdmission reads no file without a place for it. It says whether a file that is read now has somewhere to go, and
// where it goes once its bytes are there. Not synchronized; no I/O, no clock.
class ReadAdmission {
 public:
  // REQUIRES: all outlive it.
  ReadAdmission(const PlannerInput& in, FileStates& files, const PageCacheWindow& window, RetentionPlanner& retention)
      : in_(in), files_(files), window_(window), retention_(retention) {}

  // A file that is read for this use has a place.
  bool Takes(Slot slot, Position use) const;
  // The file is worth reading for its next use, for a fill, or for WarmFiles, and has a place.
  bool Wants(Slot slot) const;
  // ... for WarmFiles.
  bool WantsWarm(Slot slot) const;
  // The place of a file whose bytes have come, or have not (`ok`): see Planner::Arrived.
  Arrival Arrived(const ReadPlan::Item& item, bool ok);

 private:
  Position StagingEnd() const;

  const PlannerInput& in_;
  FileStates& files_;
  const PageCacheWindow& window_;
  RetentionPlanner& retention_;
};

}  // namespace augur
