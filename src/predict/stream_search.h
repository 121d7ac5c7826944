// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "predict/next_epochs.h"
#include "seed_search/search_job.h"

namespace augur {

// The search for the place at which a script's own generator drew the seed of an epoch: the seeds of the later epochs
// are further outputs of that generator. It looks at the first 2 x 10^8 outputs of torch.manual_seed(s), for each s of
// StreamSeeds(hinted). `done` gets the places, on a thread of the Searcher's, when all streams were searched; it is not
// called when the search ended before that. A place is a guess: two are found by chance (Mt19937Scan), so at most eight
// are told.
SearchJob MakeStreamSearchJob(uint32_t seed, const std::vector<uint32_t>& hinted,
                              std::function<void(std::vector<StreamPosition>)> done);

}  // namespace augur
