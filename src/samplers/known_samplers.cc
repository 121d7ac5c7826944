// SPDX-License-Identifier: Apache-2.0
#include "samplers/known_samplers.h"

#include <algorithm>

#include "samplers/common_seeds.h"
#include "samplers/sampler_registry.h"
#include "samplers/torch_recipes.h"

namespace augur {
namespace {

using Likelihood = KnownSampler::Likelihood;

// What is tried, in the order of its cost. A prefix of a fresh seed is 0.75 us. A generator that lives for the run must
// be stepped to the epoch, 0.4 ns an output: epoch e of 1.3 million samples, two permutations each, is e ms away.
constexpr uint64_t kFirstEpochs = 10;     // somebody has just begun: 2,000 prefixes, 2 ms
constexpr uint64_t kDistantEpochs = 300;  // the daemon was started in the middle of a run: 60,000 prefixes, 45 ms,
constexpr uint64_t kDistantStreamEpochs = 100;  // 0.1 s for each generator of a framework,
constexpr uint64_t kCustomStreamEpochs = 3;     // and 0.2 s for those of all common seeds together
constexpr uint64_t kDistantSeeds = 10000;       // seed + epoch for all that are small: 8 ms

// Ranks read as many as the list without repeats has, rounded down; how many they are is not known, and takes off less
// than one each.
TorchRecipe RepeatRecipe() {
  TorchRecipe recipe = FreshSeedRecipe("RepeatAugSampler", 0);
  recipe.shape = {.repeats = 3, .selection = EpochShape::Selection::kTimm};
  return recipe;
}

}  // namespace

std::vector<KnownSampler> KnownSamplers() {
  const std::span<const RegisteredFamily> registry = SamplerRegistry();
  std::vector<RegisteredFamily> families(registry.begin(), registry.end());
  std::ranges::sort(families, {}, &RegisteredFamily::turn);
  std::vector<KnownSampler> known;
  for (const RegisteredFamily& row : families) {
    if (row.family->add_known != nullptr) row.family->add_known(&known);
  }
  std::ranges::stable_sort(known, {}, &KnownSampler::likelihood);
  return known;
}

void AddKnownTorchSamplers(std::vector<KnownSampler>* known) {
  const auto add = [known](const TorchRecipe& recipe, Likelihood likelihood, uint64_t epochs, uint64_t distant_epochs) {
    const auto sampler = MakeTorchSampler(recipe);
    known->push_back({.sampler = sampler, .epochs = epochs, .likelihood = likelihood});
    if (distant_epochs > epochs) {
      known->push_back({.sampler = sampler, .epochs = distant_epochs, .likelihood = Likelihood::kDistant});
    }
  };
  const auto add_default = [&add](const TorchRecipe& recipe, uint64_t distant_epochs) {
    add(recipe, Likelihood::kDefault, kFirstEpochs, distant_epochs);
  };
  add_default(FreshSeedRecipe("torch DistributedSampler", 0), kDistantSeeds);
  add(FreshSeedRecipe("torch DistributedSampler without set_epoch", 0, 0), Likelihood::kDefault, 1, 1);
  add_default(FreshSeedRecipe("transformers SeedableRandomSampler", 42), kDistantEpochs);
  add_default(SamplerGeneratorRecipe("accelerate RandomSampler", kTorchDefaultSeed), kDistantStreamEpochs);
  add_default(EndlessLoaderRecipe("Ultralytics RandomSampler", kUltralyticsSeed), kDistantStreamEpochs);
  add_default(RepeatRecipe(), kDistantEpochs);

  for (const uint64_t seed : kCommonSeeds) {
    const auto add_custom = [&add](const TorchRecipe& recipe, uint64_t epochs, uint64_t distant_epochs) {
      add(recipe, Likelihood::kCustom, epochs, distant_epochs);
    };
    add_custom(FreshSeedRecipe("torch DistributedSampler", seed), kFirstEpochs, kDistantEpochs);
    add_custom(FreshSeedRecipe("torch DistributedSampler without set_epoch", seed, 0), 1, 1);
    add_custom(LoaderGeneratorRecipe("torch RandomSampler of a generator", seed), 1, kCustomStreamEpochs);
    add_custom(SamplerGeneratorRecipe("torch RandomSampler of its own generator", seed), 1, kCustomStreamEpochs);
    add_custom(PermutationsRecipe("torch permutations of one generator", seed), 1, kCustomStreamEpochs);
    add_custom(DrawnSeedRecipe("torch RandomSampler", seed), kFirstEpochs, kDistantEpochs);
    add_custom(DrawnSeedRecipe("torch RandomSampler beside a validation loader", seed, 3, 6), kFirstEpochs,
               kDistantEpochs);
    add_custom(DrawnSeedRecipe("torch RandomSampler, persistent workers", seed, 3, 2), kFirstEpochs, kDistantEpochs);
    add_custom(EndlessLoaderRecipe("torch RandomSampler of a generator, persistent workers", seed), 1,
               kCustomStreamEpochs);
    // The sampler's is the first draw of the global generator: 64 bits, of which the low half reaches the state.
    Mt19937 global = TorchEngine(seed);
    global.Discard(1);
    const uint64_t drawn = global.Next();
    add_custom(StatefulRecipe(drawn, false, false), 1, kCustomStreamEpochs);
    add_custom(StatefulRecipe(drawn, true, false), 1, kCustomStreamEpochs);
    add_custom(StatefulRecipe(drawn, true, true), 1, kCustomStreamEpochs);
  }
  for (uint64_t seed = 1; seed < 10; ++seed) {
    add(EndlessLoaderRecipe("Ultralytics RandomSampler", kUltralyticsSeed + seed), Likelihood::kCustom, 1, 1);
  }
}

}  // namespace augur
