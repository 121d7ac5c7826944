// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "prefetch/file_states.h"
#include "prefetch/fill_cursor.h"
#include "prefetch/page_cache_window.h"
#include "prefetch/planner_input.h"
#include "prefetch/plans.h"
#include "prefetch/read_admission.h"
#include "prefetch/region_visits.h"
#include "prefetch/retention_planner.h"

namespace augur {

// ReadPlanner decides what to read next and when, in one of two ways (ReadMode): files in the order of their use, or
// regions of the disk. Without a predicted use it fills memory in the order of the disk, if that was asked for. Not
// synchronized; no I/O, no clock.
class ReadPlanner {
 public:
  // REQUIRES: all outlive it.
  ReadPlanner(PlannerInput& in, FileStates& files, const PageCacheWindow& window, const RetentionPlanner& retention,
              const ReadAdmission& admission)
      : in_(in),
        files_(files),
        admission_(admission),
        visits_(in, files, admission),
        cursor_(in, files, window, retention, admission) {}

  // See Planner for all of these.
  std::optional<ReadPlan> NextRead(uint64_t now_us, bool alone);
  bool pauses() const { return pauses_; }
  void PutBack(const ReadPlan& read);
  void NotRead(const ReadPlan& read);
  void Ended(const ReadPlan& read, uint64_t now_us, bool asked);
  // Files that a fill did not want may be wanted now.
  void LookAgain() { cursor_.LookAgain(); }

 private:
  uint64_t room() const;
  bool IsDiskBusy(bool urgent) const;
  std::nullopt_t NothingToRead(uint64_t now_us);
  ReadPlan MakePlan(std::vector<Slot> files, bool urgent);

  PlannerInput& in_;
  FileStates& files_;
  const ReadAdmission& admission_;
  RegionVisits visits_;
  FillCursor cursor_;
  uint64_t next_id_ = 1;
  bool pauses_ = false;
};

}  // namespace augur
