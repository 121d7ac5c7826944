// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "predict/candidate_scorer.h"
#include "predict/identified_order.h"
#include "samplers/list_shuffle.h"
#include "seed_search/search_job.h"

namespace augur {

// The search for the seed, of 10^6, with which the list was shuffled from its end: those that Keras and webdataset draw
// from, and most that people choose. About 3 core-seconds for 12,000 samples of which 64 reads are known; with samples
// / reads it grows (EndShuffleSearch). None: the reads are not enough to believe one of so many. `done` is called when
// it has ended, on a thread of the Searcher's; the order says nothing of how long it took. What the seed was used
// for, by the library's own name, is what agrees best with the reads. REQUIRES: `test` lives until then.
std::optional<SearchJob> MakeListSeedJob(const CandidateScorer& test, ListShuffler shuffler,
                                         std::function<void(std::optional<IdentifiedOrder>)> done);

}  // namespace augur
