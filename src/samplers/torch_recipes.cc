// SPDX-License-Identifier: Apache-2.0
#include "samplers/torch_recipes.h"

#include <string>
#include <utility>
#include <vector>

#include "samplers/common_seeds.h"
#include "samplers/sampler_registry.h"

namespace augur {
namespace {

constexpr RankSubset::Kind kBatches = RankSubset::Kind::kBatches;

SamplerResult Made(TorchRecipe recipe) { return std::shared_ptr<const Sampler>(MakeTorchSampler(std::move(recipe))); }

// All ranks get equally many batches: accelerate's BatchSamplerShard.
SamplerResult Batches(const SamplerHint& hint, TorchRecipe recipe) {
  if (hint.world_size > 1) {
    const uint64_t ranks = hint.split_batches ? 1 : hint.world_size;
    recipe.shape = {.multiple = ranks * hint.batch.value_or(1), .drop_last = hint.drop_last};
  }
  return Made(std::move(recipe));
}

SamplerResult Drawn(const SamplerHint& hint, const char* name,
                    TorchRecipe::Draw draw = TorchRecipe::Draw::kPermutation) {
  AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
  TorchRecipe recipe = DrawnSeedRecipe(name, seed, hint.position.value_or(3), hint.stride.value_or(4));
  recipe.draw = draw;
  recipe.draws = hint.draws.value_or(0);
  return Made(std::move(recipe));
}

// One process: the global generator. More: a DistributedSampler with the framework's own seed.
SamplerResult DrawnOrDistributed(const SamplerHint& hint, const char* name, const char* distributed) {
  return hint.world_size == 1 ? Drawn(hint, name) : MakeDistributed(hint, distributed, 0);
}

// Permutations taken straight from the global generator, each behind `before` outputs that the loader draws.
SamplerResult FromGlobal(const SamplerHint& hint, const char* name, uint64_t before) {
  AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
  return Made({.name = name,
               .generator = RunStream{.seed = seed, .offset = hint.position.value_or(before), .extra = before},
               .shape = {}});
}

SamplerResult Repeated(const SamplerHint& hint, const char* name, EpochShape::Selection selection) {
  TorchRecipe recipe = FreshSeedRecipe(name, hint.seed.value_or(0), hint.same_epoch ? 0 : 1);
  recipe.shape = {.repeats = 3, .multiple = hint.world_size, .selection = selection};
  return Made(std::move(recipe));
}

// Strided over a stream of permutations that never ends: no padding.
SamplerResult Endless(const SamplerHint& hint, const char* name) {
  AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
  return Made(PermutationsRecipe(name, seed));
}

SamplerResult Sequential(const SamplerHint& hint) {
  return Made({.name = "samples in their order",
               .generator = FreshSeed{},
               .shape = {.multiple = hint.world_size, .drop_last = hint.drop_last},
               .draw = TorchRecipe::Draw::kNone});
}

SamplerResult Ultralytics(const SamplerHint& hint) {
  if (hint.world_size > 1) return MakeDistributed(hint, "Ultralytics DistributedSampler", 0);
  return Made(EndlessLoaderRecipe("Ultralytics RandomSampler", kUltralyticsSeed + hint.seed.value_or(0)));
}

using Hint = const SamplerHint&;

constexpr NamedSampler kTorchNames[] = {
    {.name = "torch",
     .what = "DataLoader(shuffle=True) after torch.manual_seed(seed); --position and --stride where more is drawn",
     .make = [](Hint hint) { return Drawn(hint, "torch RandomSampler"); }},
    {.name = "torch-1.8",
     .what = "the same of torch 1.7 and 1.8, which shuffle by the global generator itself",
     .make = [](Hint hint) { return FromGlobal(hint, "torch 1.8 RandomSampler", 4); }},
    {.name = "torch-1.6",
     .what = "the same of torch up to 1.6",
     .make = [](Hint hint) { return FromGlobal(hint, "torch 1.6 RandomSampler", 2); }},
    {.name = "generator",
     .what = "DataLoader(shuffle=True, generator=g), g seeded with seed",
     .make = [](Hint hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       return Made(LoaderGeneratorRecipe("torch RandomSampler", seed));
     }},
    {.name = "sampler-generator",
     .what = "RandomSampler(generator=g), g seeded with seed and not given to the DataLoader",
     .make = [](Hint hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       return Made(SamplerGeneratorRecipe("torch RandomSampler", seed));
     }},
    {.name = "fresh",
     .what = "a generator that is seeded with seed anew before each epoch",
     .make = [](Hint hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       return Made(FreshSeedRecipe("torch RandomSampler", seed, 0));
     }},
    {.name = "replacement",
     .what = "RandomSampler(replacement=True) after torch.manual_seed(seed); --draws for num_samples",
     .make =
         [](Hint hint) {
           return Drawn(hint, "torch RandomSampler with replacement", TorchRecipe::Draw::kReplacement);
         }},
    {.name = "subset",
     .what = "SubsetRandomSampler of all samples after torch.manual_seed(seed)",
     .make = [](Hint hint) { return FromGlobal(hint, "torch SubsetRandomSampler", 2); }},
    {.name = "distributed",
     .what = "torch DistributedSampler, seed + epoch; seed 0 unless given",
     .make = [](Hint hint) { return MakeDistributed(hint, "torch DistributedSampler", 0); }},
    {.name = "sequential", .what = "shuffle=False, on one rank or more", .make = Sequential},
    {.name = "stateful",
     .what = "torchdata StatefulDataLoader(shuffle=True); seed is the one its generator drew",
     .make = [](Hint hint) { return Endless(hint, "torchdata RandomSampler"); }},
    {.name = "stateful-workers",
     .what = "the same, with worker processes that each epoch has anew",
     .make = [](Hint hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       return Made(StatefulRecipe(seed, true, false));
     }},
    {.name = "stateful-persistent",
     .what = "the same, with persistent workers",
     .make = [](Hint hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       return Made(StatefulRecipe(seed, true, true));
     }},
    {.name = "stateful-generator",
     .what = "torchdata StatefulDataLoader(shuffle=True, generator=g), g seeded with seed",
     .make = [](Hint hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       // Its base_seed is drawn from g behind the permutation.
       return Made({.name = "torchdata RandomSampler", .generator = RunStream{.seed = seed, .extra = 2}, .shape = {}});
     }},
    {.name = "lightning",
     .what = "Lightning: DistributedSampler with seed_everything's seed, 0 unless given; one device: as torch",
     .make =
         [](Hint hint) {
           return DrawnOrDistributed(hint, "torch RandomSampler (Lightning)", "Lightning DistributedSampler");
         }},
    {.name = "transformers",
     .what = "Hugging Face Trainer: seed + epoch, seed 42 unless given; --batch-size where there are several ranks",
     .make =
         [](Hint hint) {
           const uint64_t seed = hint.seed.value_or(42);
           return Batches(hint, FreshSeedRecipe("transformers SeedableRandomSampler", seed));
         },
     .share = kBatches},
    {.name = "accelerate-seedable",
     .what = "accelerate with use_seedable_sampler, as transformers, seed as in set_seed",
     .make = [](Hint hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       return Batches(hint, FreshSeedRecipe("accelerate SeedableRandomSampler", seed));
     },
     .share = kBatches},
    {.name = "accelerate",
     .what = "accelerate on several ranks; seed is the one its generator drew, before 1.6 a constant",
     .make =
         [](Hint hint) {
           const uint64_t seed = hint.seed.value_or(kTorchDefaultSeed);
           return Batches(hint, SamplerGeneratorRecipe("accelerate RandomSampler", seed));
         },
     .share = kBatches},
    {.name = "timm",
     .what = "timm's loader: DistributedSampler, seed 0 unless given; one device: as torch",
     .make =
         [](Hint hint) { return DrawnOrDistributed(hint, "torch RandomSampler (timm)", "timm DistributedSampler"); }},
    {.name = "timm-repeat",
     .what = "timm RepeatAugSampler (--aug-repeats 3)",
     .make = [](Hint hint) { return Repeated(hint, "timm RepeatAugSampler", EpochShape::Selection::kTimm); }},
    {.name = "torchvision-repeat",
     .what = "RASampler of torchvision's references and of DeiT",
     .make = [](Hint hint) { return Repeated(hint, "torchvision RASampler", EpochShape::Selection::kTorchvision); }},
    {.name = "ultralytics", .what = "Ultralytics YOLO; seed as in its settings, 0 unless given", .make = Ultralytics},
    {.name = "detectron2",
     .what = "detectron2 TrainingSampler",
     .make = [](Hint hint) { return Endless(hint, "detectron2 TrainingSampler"); },
     .is_endless = true},
    {.name = "mmengine",
     .what = "mmengine DefaultSampler, seed + epoch",
     .make = [](Hint hint) -> SamplerResult {
       AUGUR_TRY(hint.NeededSeed().status());
       return MakeDistributed(hint, "mmengine DefaultSampler", 0);
     }},
    {.name = "mmengine-infinite",
     .what = "mmengine InfiniteSampler",
     .make = [](Hint hint) { return Endless(hint, "mmengine InfiniteSampler"); },
     .is_endless = true},
};

// What is tried, in the order of its cost. A prefix of a fresh seed is 0.75 us. A generator that lives for the run must
// be stepped to the epoch, 0.4 ns an output: epoch e of 1.3 million samples, two permutations each, is e ms away.
constexpr uint64_t kFirstEpochs = KnownSampler::kFirstEpochs;      // 2,000 prefixes, 2 ms
constexpr uint64_t kDistantEpochs = KnownSampler::kDistantEpochs;  // 60,000 prefixes, 45 ms,
constexpr uint64_t kDistantStreamEpochs = 100;                     // 0.1 s for each generator of a framework,
constexpr uint64_t kCustomStreamEpochs = 3;                        // and 0.2 s for those of all common seeds together
constexpr uint64_t kDistantSeeds = 10000;                          // seed + epoch for all that are small: 8 ms

// Ranks read as many as the list without repeats has, rounded down; how many they are is not known, and takes off less
// than one each.
TorchRecipe RepeatRecipe() {
  TorchRecipe recipe = FreshSeedRecipe("RepeatAugSampler", 0);
  recipe.shape = {.repeats = 3, .selection = EpochShape::Selection::kTimm};
  return recipe;
}

void AddKnownTorch(std::vector<KnownSampler>* known) {
  using Likelihood = KnownSampler::Likelihood;
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

}  // namespace

SamplerResult MakeDistributed(const SamplerHint& hint, const char* name, uint64_t seed) {
  TorchRecipe recipe = FreshSeedRecipe(name, hint.seed.value_or(seed), hint.same_epoch ? 0 : 1);
  recipe.shape = {.multiple = hint.world_size, .drop_last = hint.drop_last};
  return Made(std::move(recipe));
}

constinit const SamplerFamily kTorchFamily = {.named = kTorchNames, .add_known = AddKnownTorch};

}  // namespace augur
