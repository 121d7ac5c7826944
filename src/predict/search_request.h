// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "predict/candidate_scorer.h"
#include "predict/identified_order.h"
#include "samplers/known_samplers.h"
#include "seed_search/search_allowance.h"

namespace augur {

// Draws for orders that are made whole, to look for an epoch that was begun in its midst: 10 ns each, so a core-second
// at most. Where a run was resumed, 20 core-seconds: all 9,000 later epochs of known seeds for 200,000 samples, the
// 1,500 likeliest for ImageNet's.
inline constexpr uint64_t kMidEpochDraws = 100'000'000;
inline constexpr uint64_t kResumedDraws = 2'000'000'000;

// The input of a search for an order. Immutable once the search has begun.
struct SearchRequest {
  std::vector<CandidateScorer> tests;  // one for each list of samples that has the files, likeliest first
  std::vector<Guess> expected;         // how the epoch may follow from the one before, or what the user said
  uint64_t ranks = 1;                  // scripts that read side by side
  bool resumed = true;                 // the job may have begun in mid-epoch: this is its first pass
  bool variants = true;                // the many ways of libraries that have many are tried
  bool drawn = false;                  // the seed of an epoch before was found so: first of all that is tried again.
  // None of torch's seeds, most likely: threads of one process read, or a search of all seeds has failed for this job.
  bool lists_first = false;
  std::shared_ptr<SearchAllowance> allowance = nullptr;  // of the job's searches; null: no bound
  std::function<bool()> stopped = {};  // whether the answer is wanted no more, for TryKnownSamplers; may be empty
};

}  // namespace augur
