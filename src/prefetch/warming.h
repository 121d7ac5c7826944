// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "augur/store.h"
#include "prefetch/planned_files.h"
#include "prefetch/planner.h"
#include "prefetch/prefetch_control.h"
#include "prefetch/retained_files.h"
#include "prefetch/staged_files.h"
#include "prefetch/view_files.h"

namespace augur {

// Warming carries out 'augurctl warm' in the view that is followed. It chooses the files that the retained cache has
// room for, in the order in which they are asked for, and tells how many are there. The planner reads them, in the
// order of the disk and after what readers need. A run that no client asks about for kForgottenUs ends. Used by the
// planning thread only. REQUIRES: what it is given outlives it.
class Warming {
 public:
  // A client asks twice a second (tools/control_commands/warm.cc): 20 of its questions are missing by then.
  static constexpr uint64_t kForgottenUs = 10'000'000;

  struct Means {
    const Store& store;
    uint64_t order_bytes_max;  // memory for the planner's tables
  };
  Warming(const Means& means, const ViewFiles& files, PlannedFiles& planned, Planner& planner, StagedFiles& staged,
          RetainedFiles& retained)
      : means_(means), files_(files), planned_(planned), planner_(planner), staged_(staged), retained_(retained) {}
  Warming(const Warming&) = delete;
  Warming& operator=(const Warming&) = delete;

  // Begins the run with this number, not 0. Reads the index for each file. REQUIRES: none is running.
  void Begin(uint64_t run, const Order& files, uint64_t now_us);
  // How far the run is. Nothing: it has ended for another reason than its end or End.
  std::optional<WarmReport> Report(uint64_t run, uint64_t now_us);
  // Reads nothing more for it, whichever run it is. The files that it has brought stay.
  void End();
  // Ends a run that was forgotten.
  void LookIfAsked(uint64_t now_us);
  // The run is over before its end: it cannot be asked about any more.
  void Abandon();

  bool running() const { return planned_.warming; }

 private:
  Order Choose(const Order& files);
  void TakeWhatIsThere();

  // Constant after construction.
  const Means means_;
  const ViewFiles& files_;

  PlannedFiles& planned_;
  Planner& planner_;
  StagedFiles& staged_;
  RetainedFiles& retained_;
  uint64_t run_ = 0;  // 0: none
  uint64_t asked_us_ = 0;
  WarmReport begun_;  // what it has to do; of kept files only the empty ones
};

}  // namespace augur
