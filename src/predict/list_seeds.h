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
// / reads it grows (EndShuffleSearch). None: the reads are not enough to believe one of 10^6. `done` is called when
// it has ended, on a thread of the Searcher's; the order says nothing of how long it took. Of the samplers that may use
// the seed, each under its library's name, the order has the one that agrees best. REQUIRES: `test` lives until then.
std::optional<SearchJob> MakeListSeedJob(const CandidateScorer& test, ListShuffler shuffler,
                                         std::function<void(std::optional<IdentifiedOrder>)> done);

}  // namespace augur
