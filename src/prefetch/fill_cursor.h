// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "prefetch/file_states.h"
#include "prefetch/page_cache_window.h"
#include "prefetch/planner_input.h"
#include "prefetch/read_admission.h"
#include "prefetch/retention_planner.h"

namespace augur {

// FillCursor goes round all files in the order of the disk and finds the next one that a fill wants. When it has gone
// round in vain it rests until the bytes of some file are elsewhere. Not synchronized; no I/O, no clock.
class FillCursor {
 public:
  // REQUIRES: all outlive it.
  FillCursor(const PlannerInput& in, const FileStates& files, const PageCacheWindow& window,
             const RetentionPlanner& retention, const ReadAdmission& admission)
      : in_(in), files_(files), window_(window), retention_(retention), admission_(admission) {}

  // The next file that is wanted, or kNoSlot: there is none, or the search goes on at the next call (`searches`).
  Slot Next();
  // The last Next has not gone round: more at one time would hold up other decisions.
  bool searches() const { return passed_ < in_.schedule.by_address().size(); }
  // The file and those before it are being read.
  void MoveBehind(Slot slot) { rank_ = in_.schedule.RankOf(slot) + 1; }
  // Files that were not wanted may be now.
  void LookAgain() { passed_ = 0; }

 private:
  // How many files Next looks at, so that it takes 20 us or so (10 ns a file).
  static constexpr size_t kSteps = 2048;

  const PlannerInput& in_;
  const FileStates& files_;
  const PageCacheWindow& window_;
  const RetentionPlanner& retention_;
  const ReadAdmission& admission_;
  uint32_t rank_ = 0;
  size_t passed_ = 0;                 // files that were not wanted, one after the other
  std::array<uint64_t, 7> saw_ = {};  // sums that change when the bytes of a file are elsewhere
};

}  // namespace augur
