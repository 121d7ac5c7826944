// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "control/access_record.h"
#include "diagnosis/run_window.h"

namespace augur {

// The statistics and accesses of a mount, recorded for a while.
struct RunRecording {
  std::vector<RunSample> samples;    // in time, two at least
  std::vector<SeenAccess> accesses;  // in time; those of them that the daemon has seen
  uint64_t lost = 0;                 // accesses between them that were too many to keep
};

// One pass over the data, by the accesses.
struct EpochSpan {
  uint64_t begin_us = 0;  // CLOCK_MONOTONIC: its first access, and its last
  uint64_t end_us = 0;
  size_t first = 0;  // of RunRecording::accesses
  size_t last = 0;   // behind its last
  size_t files = 0;  // that were seen in it
};

// Whether opens were seen all the time, but for the first ones in each folder. Else a file that the page cache serves
// leaves no trace.
bool SeesOpens(const RunRecording& recording);

// The epochs of a recording. Where opens were not seen, it is not known where one ends: one for all.
std::vector<EpochSpan> EpochsOf(const RunRecording& recording);

// The epochs of accesses: a new one has begun where files come again, and no others between them. A file that comes
// again at once, as by a second READ or by an open after a READ, is still the same access. Readers that draw with
// replacement have one epoch. None: there is no access.
std::vector<EpochSpan> SplitEpochs(const std::vector<SeenAccess>& accesses);

}  // namespace augur
