// SPDX-License-Identifier: Apache-2.0
#include "shuffle/known_samplers.h"

#include <algorithm>

#include "shuffle/torch_recipes.h"

namespace augur {
namespace {

using Likelihood = KnownSampler::Likelihood;

// Seeds that tutorials, papers and habits have made common; 3407 has a paper of its own.
constexpr uint64_t kCommonSeeds[] = {0,     42,  1,   1234, 1337, 123,  2021, 2022, 2023, 2024,  2025,  2026,  3407,
                                     12345, 7,   10,  100,  2,    3,    5,    13,   17,   21,    99,    666,   777,
                                     888,   999, 111, 233,  1000, 2018, 2019, 2020, 4242, 31415, 54321, 114514};

// Runs are longer than these; a daemon that starts in the middle of one is the exception.
constexpr uint64_t kEpochs = 300;
// Epoch e of a generator that lives for the run costs 2 * samples * e outputs, 0.3 ns each: 0.8 ms for each epoch of
// 1.3 million samples, so 0.25 s for kEpochs and 5 ms for these.
constexpr uint64_t kStreamEpochs = 3;
// Seeds and epochs up to here cost 10,000 prefixes, 10 ms.
constexpr uint64_t kDistantSeeds = 10000;

TorchRecipe RepeatRecipe() {
  TorchRecipe recipe = FreshSeedRecipe("RepeatAugSampler", 0);
  recipe.shape = {.repeats = 3};
  return recipe;
}

}  // namespace

std::vector<KnownSampler> KnownSamplers() {
  std::vector<KnownSampler> known;
  AddKnownTorchSamplers(&known);
  std::ranges::stable_sort(known, {}, &KnownSampler::likelihood);
  return known;
}

void AddKnownTorchSamplers(std::vector<KnownSampler>* known) {
  const auto add = [known](TorchRecipe recipe, uint64_t epochs, Likelihood likelihood) {
    known->push_back({.sampler = MakeTorchSampler(std::move(recipe)), .epochs = epochs, .likelihood = likelihood});
  };
  add(FreshSeedRecipe("torch DistributedSampler", 0), kEpochs, Likelihood::kDefault);
  add(FreshSeedRecipe("torch DistributedSampler without set_epoch", 0, 0), 1, Likelihood::kDefault);
  add(FreshSeedRecipe("transformers SeedableRandomSampler", 42), kEpochs, Likelihood::kDefault);
  add(SamplerGeneratorRecipe("accelerate RandomSampler", kTorchDefaultSeed), kEpochs, Likelihood::kDefault);
  add(EndlessLoaderRecipe("Ultralytics RandomSampler", kUltralyticsSeed), kEpochs, Likelihood::kDefault);
  add(RepeatRecipe(), kEpochs, Likelihood::kDefault);
  for (const uint64_t seed : kCommonSeeds) {
    add(FreshSeedRecipe("torch DistributedSampler", seed), kEpochs, Likelihood::kCustom);
    add(LoaderGeneratorRecipe("torch RandomSampler of a generator", seed), kStreamEpochs, Likelihood::kCustom);
    add(SamplerGeneratorRecipe("torch RandomSampler of its own generator", seed), kStreamEpochs, Likelihood::kCustom);
    add(PermutationsRecipe("torch permutations of one generator", seed), kStreamEpochs, Likelihood::kCustom);
    add(DrawnSeedRecipe("torch RandomSampler", seed), kEpochs, Likelihood::kCustom);
    add(DrawnSeedRecipe("torch RandomSampler beside a validation loader", seed, 3, 6), kEpochs, Likelihood::kCustom);
  }
  for (uint64_t seed = 1; seed < 10; ++seed) {
    add(EndlessLoaderRecipe("Ultralytics RandomSampler", kUltralyticsSeed + seed), 1, Likelihood::kCustom);
  }
  add(FreshSeedRecipe("torch DistributedSampler", 0), kDistantSeeds, Likelihood::kDistant);
}

}  // namespace augur
