// SPDX-License-Identifier: Apache-2.0
#include "predict/later_epochs.h"

#include <memory>
#include <unordered_set>
#include <variant>

#include "samplers/torch_sampler.h"

namespace augur {
namespace {

// The seed of the first epoch, where each has one more than the one before, and all samples are drawn once.
const FreshSeed* SeedOfEach(const Sampler& sampler) {
  const auto* torch = dynamic_cast<const TorchSampler*>(&sampler);
  if (torch == nullptr || torch->recipe().draw != TorchRecipe::Draw::kPermutation) return nullptr;
  if (torch->recipe().shape.repeats != 1) return nullptr;
  const auto* fresh = std::get_if<FreshSeed>(&torch->recipe().generator);
  return fresh != nullptr && fresh->step == 1 ? fresh : nullptr;
}

}  // namespace

std::vector<Guess> LaterEpochs(const std::vector<KnownSampler>& known, size_t count_max) {
  struct Seeded {
    std::shared_ptr<const Sampler> sampler;
    uint64_t seed = 0;
  };
  std::vector<Seeded> defaults;
  std::vector<Seeded> others;
  for (const KnownSampler& one : known) {
    const FreshSeed* const fresh = SeedOfEach(*one.sampler);
    if (fresh == nullptr || one.likelihood == KnownSampler::Likelihood::kDistant) continue;
    const bool is_default = one.likelihood == KnownSampler::Likelihood::kDefault;
    (is_default ? defaults : others).push_back({.sampler = one.sampler, .seed = fresh->seed});
  }
  std::vector<Guess> guesses;
  std::unordered_set<uint64_t> seeds;
  for (const std::vector<Seeded>* those : {&defaults, &others}) {
    for (uint64_t epoch = 0; epoch < kLaterEpochs; ++epoch) {
      for (const Seeded& one : *those) {
        if (guesses.size() == count_max) return guesses;
        if (seeds.insert(one.seed + epoch).second) guesses.push_back({.sampler = one.sampler, .epoch = epoch});
      }
    }
  }
  return guesses;
}

}  // namespace augur
