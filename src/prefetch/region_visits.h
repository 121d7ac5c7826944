// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prefetch/file_states.h"
#include "prefetch/planner_input.h"
#include "prefetch/read_admission.h"

namespace augur {

// RegionVisits chooses what to read of a region of the disk at a visit to it (seek-bound): the files that are used
// until the next visit should be made (VisitEnd). Not synchronized; no I/O, no clock.
class RegionVisits {
 public:
  // REQUIRES: all outlive it.
  RegionVisits(PlannerInput& in, FileStates& files, const ReadAdmission& admission)
      : in_(in), files_(files), admission_(admission) {}

  // A file that is missing is not visited before the reader is this near to its use.
  Position Lead() const;
  // The files to read of the region of this file, which is missing at `missing`; its neighbours' too at some visits.
  // The read and the files that are rendered from it take no more memory than `room`. Empty: there is no place for
  // them.
  std::vector<Slot> Visit(Slot slot, Position missing, uint64_t room);

 private:
  struct Read {
    std::vector<Slot> files;
    uint64_t begin = UINT64_MAX;  // offsets
    uint64_t end = 0;
    uint64_t rendering_bytes = 0;
  };
  double MemoryFiles() const;
  void Join(std::span<const Slot> region, Position now, uint64_t room, Read* read);

  PlannerInput& in_;
  FileStates& files_;
  const ReadAdmission& admission_;
};

}  // namespace augur
