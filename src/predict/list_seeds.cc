// SPDX-License-Identifier: Apache-2.0
#include "predict/list_seeds.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "predict/best_guess.h"
#include "samplers/end_shuffle_search.h"
#include "samplers/keras_sampler.h"

namespace augur {
namespace {

constexpr uint64_t kSeeds = 1'000'000;
// Keras' second shuffle has a buffer of 8 batches, 512 samples for a batch of 64, and parallel threads come 64 apart.
constexpr uint64_t kSlack = 512 + 64;
constexpr uint64_t kRange = 256;
constexpr uint32_t kBatches[] = {32, 64, 128, 16, 256, 8, 0};

// How epochs may be drawn with the seed, those with the same first epoch together.
std::vector<Guess> GuessesOf(ListShuffler shuffler, uint64_t seed) {
  std::vector<Guess> guesses;
  for (const ListEpochs epochs :
       {ListEpochs::kOnce, ListEpochs::kInPlace, ListEpochs::kContinued, ListEpochs::kSeedPlusEpoch}) {
    guesses.push_back({.sampler = std::make_shared<const ListShuffleSampler>(
                           ListShuffleSampler::Recipe{.shuffler = shuffler, .seed = seed, .epochs = epochs})});
  }
  if (shuffler != ListShuffler::kNumpyRandomState) return guesses;
  for (const KerasImageSampler::Recipe& recipe : KerasRecipes(static_cast<uint32_t>(seed), kBatches)) {
    guesses.push_back({.sampler = std::make_shared<const KerasImageSampler>(recipe)});
  }
  return guesses;
}

// The guess that agrees best, and those that agree as well. The seed is believed already, so any will do.
IdentifiedOrder BestFinding(const CandidateScorer& test, const std::vector<Guess>& guesses) {
  std::vector<double> bits;
  bits.reserve(guesses.size());
  for (const Guess& guess : guesses) bits.push_back(test.Try(*guess.sampler, guess.epoch));
  const auto best = static_cast<size_t>(std::ranges::max_element(bits) - bits.begin());
  IdentifiedOrder finding = MakeFinding(test.shared_list(), guesses[best]);
  for (size_t i = best + 1; i < guesses.size(); ++i) {
    if (bits[i] == bits[best]) finding.others.push_back(guesses[i]);
  }
  return finding;
}

}  // namespace

std::optional<SearchJob> MakeListSeedJob(const CandidateScorer& test, ListShuffler shuffler,
                                         std::function<void(std::optional<IdentifiedOrder>)> done) {
  const FirstReads first = {.shuffler = shuffler, .samples = test.samples(), .reads = test.InTurn(), .slack = kSlack};
  // A wrong seed fits each read with probability (place + slack) / samples.
  const auto samples = static_cast<double>(first.samples);
  double bits = 0;
  for (size_t place = 0; place < first.reads.size(); ++place) {
    bits += std::log2(samples / std::min(samples, static_cast<double>(place + kSlack)));
  }
  if (!Believed(bits, static_cast<double>(kSeeds))) return std::nullopt;
  SearchJob job;
  job.name = "seeds of a list's shuffle";
  job.units = kSeeds;
  job.range_units = kRange;
  job.work = [first](uint64_t begin, uint64_t count, SearchTurn& turn) {
    EndShuffleSearch search(first);
    const std::vector<uint64_t> seeds = search.Search(begin, begin + count, [&turn] { return !turn.Continue(); });
    if (!seeds.empty()) turn.Found(seeds.front());
  };
  job.on_done = [&test, shuffler, bits, done = std::move(done)](const SearchOutcome& outcome) {
    std::optional<IdentifiedOrder> finding;
    if (outcome.end == SearchEnd::kFound) {
      finding = BestFinding(test, GuessesOf(shuffler, outcome.result));
      finding->bits = bits - std::log2(static_cast<double>(kSeeds));
    }
    done(std::move(finding));
  };
  return job;
}

}  // namespace augur
