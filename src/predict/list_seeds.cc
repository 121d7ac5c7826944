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
#include "samplers/sampler_registry.h"

namespace augur {
namespace {

// Keras draws one of these: numpy.random.randint(1e6).
constexpr uint64_t kSeeds = 1'000'000;
// Keras' second shuffle has a buffer of 8 batches, 512 samples for a batch of 64, and parallel threads come 64 apart.
constexpr uint64_t kSlack = 512 + 64;
// 5 ms of a core for 12,000 files, where all seeds take 18 s; 0.5 s for 1.28 million. So two cores end together.
constexpr uint64_t kRange = 256;

// The sampler that agrees best, and those that agree as well. The seed is believed already, so any will do.
IdentifiedOrder BestOrder(const CandidateScorer& test, const std::vector<std::shared_ptr<const Sampler>>& samplers) {
  std::vector<double> bits;
  bits.reserve(samplers.size());
  for (const auto& sampler : samplers) bits.push_back(test.Try(*sampler, 0));
  const auto best = static_cast<size_t>(std::ranges::max_element(bits) - bits.begin());
  IdentifiedOrder found = IdentifyForHost(test, {.sampler = samplers[best]}, {.bits = bits[best]}, true).identified;
  for (size_t i = best + 1; i < samplers.size(); ++i) {
    if (bits[i] == bits[best]) found.others.push_back({.sampler = samplers[i], .share = found.guess.share});
  }
  return found;
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
    std::optional<IdentifiedOrder> found;
    if (outcome.end == SearchEnd::kFound) {
      found = BestOrder(test, SamplersOfSeed(shuffler, outcome.result));
      found->bits = bits - std::log2(static_cast<double>(kSeeds));
    }
    done(std::move(found));
  };
  return job;
}

}  // namespace augur
