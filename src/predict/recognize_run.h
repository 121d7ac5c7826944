// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "predict/identified_order.h"
#include "readers/epochs.h"
#include "recorded_runs/replay_store.h"

namespace augur {

// How those recorded runs may go on whose orders were found: from the epoch that was read last, or from one of the 15
// after it. Waits for the disk.
std::vector<Guess> ContinuationsOf(const ReplayStore& runs);

// A recorded epoch, with those recorded after it; none: it cannot be read, or there is no room for it. Waits for the
// disk.
std::optional<IdentifiedOrder> LoadRecorded(const ReplayStore& runs, const std::string& run, uint64_t epoch);

// The recorded epoch that is read again, with those recorded after it. None: there is none, it cannot be read, there is
// no room for it, or the reads are too few to tell. `tried`: the first files of the epoch, when the records were read
// for it last. With the same files they are read again only for the first kReplayReadsMax reads. Waits for the disk.
std::optional<IdentifiedOrder> RecognizeRun(ReplayStore& runs, const EpochStart& epoch,
                                            std::vector<EntryNumber>* tried);

}  // namespace augur
