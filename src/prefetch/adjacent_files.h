// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "prefetch/planner_input.h"
#include "prefetch/read_admission.h"

namespace augur {

// The files of one read in the order of use (bandwidth-bound): this file, and its neighbours on the disk that are
// wanted too, as long as the gaps between them cost less than another read. The read is no longer than `bytes_max`, and
// takes no more memory than `room` with the files that are made of it. With `piece_bytes`, which may be 0, only files
// are taken that begin in the same piece of the shard, when it is cut into pieces of that length.
std::vector<Slot> AdjacentFiles(const PlannerInput& in, const ReadAdmission& admission, Slot slot, uint64_t bytes_max,
                                uint64_t room, uint64_t piece_bytes = 0);

}  // namespace augur
