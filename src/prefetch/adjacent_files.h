// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "prefetch/planner_input.h"
#include "prefetch/read_admission.h"

namespace augur {

// How far a read goes from its first file.
struct ReadReach {
  uint64_t bytes_max = 0;  // of the read
  uint64_t room = 0;       // memory for the read and the files that are rendered from it.
  // Not 0: its files begin in one piece of the shard, which is cut into pieces of that length.
  uint64_t piece_bytes = 0;
  // A file whose next use is before this position has to be read now in any case. With such files alone the read may be
  // longer than bytes_max: up to soon_bytes_max.
  Position soon = 0;
  uint64_t soon_bytes_max = 0;
};

// The files of one read in the order of use (bandwidth-bound). They are this file, and its neighbours on the disk that
// are wanted too, as long as the gaps between them cost less than another read.
std::vector<Slot> AdjacentFiles(const PlannerInput& in, const ReadAdmission& admission, Slot slot,
                                const ReadReach& reach);

}  // namespace augur
