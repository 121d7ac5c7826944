// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "prefetch/file_states.h"
#include "prefetch/planner_input.h"
#include "prefetch/read_admission.h"
#include "prefetch/read_planner.h"
#include "prefetch/retention_planner.h"
#include "prefetch/warm_files.h"

namespace augur {

// WarmPlanner is the part of the Planner that 'augurctl warm' asks. It tells which files the retained cache is to have
// although no reader is known to come, and how far that is. Not synchronized; no I/O, no clock. REQUIRES: what it is
// given outlives it.
class WarmPlanner {
 public:
  WarmPlanner(PlannerInput& in, FileStates& files, RetentionPlanner& retention, ReadAdmission& admission,
              ReadPlanner& reads)
      : in_(in), files_(files), retention_(retention), admission_(admission), reads_(reads) {}

  // Reads these files for the retained cache, as long as that has room, in the order of the disk: after the files that
  // readers are predicted to need. In place of those before. REQUIRES: each once, and no empty ones.
  void Begin(const Order& files);
  void End() { in_.warm.End(); }
  // Of the files to be warmed; takes 50 ns a file, or so.
  WarmCount Count() const;
  // Whether the file is one of them.
  bool Has(EntryNumber file) const;

  // What the retained cache has room for, without evicting a file.
  uint64_t RetainedRoom() const { return retention_.room(); }
  bool IsRetained(EntryNumber file) const;
  bool IsTooLong(const FilePlace& place) const { return in_.IsTooLong(place); }

 private:
  PlannerInput& in_;
  FileStates& files_;
  RetentionPlanner& retention_;
  ReadAdmission& admission_;
  ReadPlanner& reads_;
};

}  // namespace augur
