// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "samplers/sampler_registry.h"
#include "samplers/torch_sampler.h"

namespace augur {

// The few ways in which torch and the frameworks on it decide an epoch, each as a recipe without padding. Who uses
// which, and with what seed, stands in the tables of torch_recipes.cc.

struct SamplerFamily;

// torch and the frameworks on it, each with the defaults of its framework. For the table in sampler_registry.cc.
extern const SamplerFamily kTorchFamily;

inline std::shared_ptr<const TorchSampler> MakeTorchSampler(TorchRecipe recipe) {
  return std::make_shared<const TorchSampler>(std::move(recipe));
}

// A new generator each epoch, seed + epoch: torch's DistributedSampler and all that copied it. With step 0 it is the
// sampler of a seed that holds for one epoch alone, such as a search finds.
inline TorchRecipe FreshSeedRecipe(std::string name, uint64_t seed, uint64_t step = 1) {
  return {.name = std::move(name), .generator = FreshSeed{.seed = seed, .step = step}, .shape = {}};
}

// The DistributedSampler that a hint describes, with this seed unless it gives one: all ranks get equally many samples.
SamplerResult MakeDistributed(const SamplerHint& hint, const char* name, uint64_t seed);

// DataLoader(shuffle=True) after torch.manual_seed(seed). Nothing else is drawn: the DataLoader's own base_seed takes
// outputs 0 and 1, the RandomSampler's seed 2 and 3, and so on each epoch. Every validation loader adds 2 to the
// stride. A loader with persistent_workers has 2 less, since it draws a base_seed in the first epoch only.
inline TorchRecipe DrawnSeedRecipe(std::string name, uint64_t seed, uint64_t position = 3, uint64_t stride = 4) {
  return {.name = std::move(name),
          .generator = DrawnSeed{.stream_seed = seed, .position = position, .stride = stride},
          .shape = {}};
}

// RandomSampler(generator=g) of torch 1.11 and later, g used for nothing else.
inline TorchRecipe SamplerGeneratorRecipe(std::string name, uint64_t seed) {
  return {.name = std::move(name), .generator = RunStream{.seed = seed, .trailing = true}, .shape = {}};
}

// DataLoader(shuffle=True, generator=g) of torch 1.11 and later: its base_seed comes from g too, before each epoch.
inline TorchRecipe LoaderGeneratorRecipe(std::string name, uint64_t seed) {
  return {.name = std::move(name),
          .generator = RunStream{.seed = seed, .offset = 2, .trailing = true, .extra = 2},
          .shape = {}};
}

// One permutation after the other from one generator.
inline TorchRecipe PermutationsRecipe(std::string name, uint64_t seed) {
  return {.name = std::move(name), .generator = RunStream{.seed = seed}, .shape = {}};
}

// A loader with a generator whose batches never end (Ultralytics' InfiniteDataLoader): one base_seed for the whole run.
inline TorchRecipe EndlessLoaderRecipe(std::string name, uint64_t seed) {
  return {.name = std::move(name), .generator = RunStream{.seed = seed, .offset = 2, .trailing = true}, .shape = {}};
}

// torchdata's StatefulDataLoader(shuffle=True), whose sampler seeds its generator once, by what torch's global one
// gives after torch.manual_seed: a permutation an epoch. With worker processes the loader asks the sampler for an
// iterator twice, once to learn its state. It does so when it begins, and before each epoch whose workers are new ones
// (torchdata 0.11, stateful_dataloader.py and sampler.py; compared with it).
inline TorchRecipe StatefulRecipe(uint64_t drawn_seed, bool workers, bool persistent_workers) {
  return {.name = "torchdata RandomSampler",
          .generator =
              RunStream{.seed = drawn_seed, .trailing = workers && !persistent_workers, .burnt = workers ? 1U : 0U},
          .shape = {}};
}

// The generator seed of Ultralytics' build_dataloader, beside which it adds the rank (-1 on a single GPU) and the seed
// of the run (ultralytics/data/build.py).
inline constexpr uint64_t kUltralyticsSeed = 6148914691236517205U - 1;

}  // namespace augur
