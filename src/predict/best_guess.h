// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "predict/candidate_scorer.h"
#include "predict/identified_order.h"
#include "predict/search_request.h"

namespace augur {

// Whether a guess with `bits` bits of evidence is believed, when `tried` units (guesses times lists) were tried.
bool Believed(double bits, double tried);

// How well the guess agrees with the reads of the request's list of that number: from the epoch's start, or
// (`mid_epoch`) from wherever in the epoch it agrees best.
CandidateScorer::Score TryGuess(const SearchRequest& request, size_t test, const Guess& guess, bool mid_epoch);

// The order of a guess that is believed, cut to the part that this host reads, which the reads of `test` tell. `found`:
// how well the whole order agrees with those reads; `from_start`: it begins with them.
struct HostOrder {
  IdentifiedOrder identified;
  bool open = false;  // the reads are too few to tell which part this host reads; this is the likelier one
};
HostOrder IdentifyForHost(const CandidateScorer& test, const Guess& guess, const CandidateScorer::Score& found,
                          bool from_start);

struct BestGuess {
  IdentifiedOrder identified;
  size_t test = 0;    // the number of its list
  bool open = false;  // as HostOrder's
};

// Of the units (guesses times lists) that are believed, the one that agrees best, the first of several; the order
// knows the others, which the next epoch tells from it.
std::optional<BestGuess> BestOf(const SearchRequest& request, const std::vector<uint64_t>& units,
                                const std::function<Guess(uint64_t)>& guess_of, bool mid_epoch, double tried);

}  // namespace augur
