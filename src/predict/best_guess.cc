// SPDX-License-Identifier: Apache-2.0
#include "predict/best_guess.h"

#include <cmath>

#include "predict/next_epochs.h"

namespace augur {

bool Believed(double bits, double tried) { return bits - std::log2(tried) >= CandidateScorer::kBelievedBits; }

CandidateScorer::Score TryGuess(const SearchRequest& request, size_t test, const Guess& guess, bool mid_epoch) {
  const CandidateScorer& held = request.tests[test];
  if (mid_epoch) return held.TryMidEpoch(*guess.sampler, guess.epoch);
  return {.bits = held.Try(*guess.sampler, guess.epoch), .begin = 0};
}

HostOrder IdentifyForHost(const CandidateScorer& test, const Guess& guess, const CandidateScorer::Score& found,
                          bool from_start) {
  IndexOrder whole = WholeOrder(test.list(), guess);
  HostShare part;
  if (!guess.share_given) part = FindHostShare(test.PlacesIn(whole, from_start), whole.size(), guess.share);
  Guess own = guess;
  own.share = part.share;
  HostOrder made = {.identified = MakeIdentifiedOrder(test.shared_list(), own, std::move(whole)), .open = part.open};
  made.identified.bits = found.bits + part.bits;
  made.identified.piece_guessed = part.guessed;
  made.identified.begin = static_cast<uint32_t>(part.share.KeptBefore(found.begin));
  return made;
}

std::optional<BestGuess> BestOf(const SearchRequest& request, const std::vector<uint64_t>& units,
                                const std::function<Guess(uint64_t)>& guess_of, bool mid_epoch, double tried) {
  // Sums of some thousand terms of 20 bits are rounded to 10^-10, and guesses that differ do so by a read, 0.1 and
  // more.
  constexpr double kSame = 1e-6;
  const uint64_t tests = request.tests.size();
  uint64_t first = 0;
  CandidateScorer::Score best;
  std::vector<uint64_t> equal;
  for (const uint64_t unit : units) {
    const CandidateScorer::Score found = TryGuess(request, unit % tests, guess_of(unit / tests), mid_epoch);
    if (found.bits > best.bits + kSame) {
      best = found;
      first = unit;
      equal.clear();
    } else if (found.bits > best.bits - kSame && unit % tests == first % tests) {
      equal.push_back(unit);
    }
  }
  if (best.bits <= 0) return std::nullopt;
  HostOrder made = IdentifyForHost(request.tests[first % tests], Settled(guess_of(first / tests)), best, !mid_epoch);
  BestGuess answer = {.identified = std::move(made.identified), .test = first % tests, .open = made.open};
  answer.identified.bits -= std::log2(tried);
  for (const uint64_t unit : equal) {
    answer.identified.others.push_back(guess_of(unit / tests));
    answer.identified.others.back().share = answer.identified.guess.share;
  }
  return answer;
}

}  // namespace augur
