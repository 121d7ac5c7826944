// SPDX-License-Identifier: Apache-2.0
#include "samplers/python_sampler.h"

#include <vector>

#include "samplers/common_seeds.h"
#include "samplers/sampler_registry.h"

namespace augur {
namespace {

SamplerResult MakePythonSample(const SamplerHint& hint, SampleEpochs epochs) {
  AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
  return SharedSampler(PythonSampleSampler({.seed = seed,
                                            .epochs = hint.same_epoch ? SampleEpochs::kOnce : epochs,
                                            .loaders_before = hint.position.value_or(0)}));
}

constexpr NamedSampler kPythonSampleNames[] = {
    {.name = "python-sample",
     .what = "random.seed(seed), then random.sample of all samples in every epoch; --same-epoch: only once",
     .make = [](const SamplerHint& hint) { return MakePythonSample(hint, SampleEpochs::kContinued); }},
    {.name = "fastai",
     .what = "random.seed(seed) or set_seed(seed), then fastai's DataLoaders; --position: loaders made before the one "
             "that is read; each look at a batch (show_batch, lr_find) is an epoch: see --epoch-from",
     .make = [](const SamplerHint& hint) -> SamplerResult {
       if (hint.same_epoch) {
         return Status(Code::kInvalid, "--sampler fastai: --same-epoch: its epochs are never the same: leave that out");
       }
       return MakePythonSample(hint, SampleEpochs::kFastai);
     }},
};

// Settled from the front, so that all common seeds cost 5 us each. Of later epochs each costs the draws of those
// before: 14 ms for 1.3 million samples, 0.25 s for those of all that are tried.
void AddKnownPythonSamples(std::vector<KnownSampler>* known) {
  constexpr auto kCustom = KnownSampler::Likelihood::kCustom;
  constexpr uint64_t kEpochs = 3;  // behind a look at a batch, or two
  for (const uint64_t seed : kCommonSeeds) {
    for (const auto epochs : {SampleEpochs::kFastai, SampleEpochs::kOnce, SampleEpochs::kContinued}) {
      AddKnown(PythonSampleSampler({.seed = seed, .epochs = epochs}), kCustom, 1, known);
    }
  }
  for (const uint64_t seed : kCommonestSeeds) {
    AddKnown(PythonSampleSampler({.seed = seed, .epochs = SampleEpochs::kFastai}), kCustom, kEpochs, known);
  }
}

}  // namespace

constinit const SamplerFamily kPythonSampleFamily = {.named = kPythonSampleNames, .add_known = AddKnownPythonSamples};

PythonRandom PythonSampleSampler::At(uint64_t samples, uint64_t epoch) const {
  PythonRandom random(recipe_.seed);
  const auto n = static_cast<uint32_t>(samples);
  switch (recipe_.epochs) {
    case SampleEpochs::kOnce: break;
    case SampleEpochs::kContinued:
      for (uint64_t earlier = 0; earlier < epoch; ++earlier) random.SkipSample(n);
      break;
    case SampleEpochs::kFastai:
      for (uint64_t loader = 0; loader < recipe_.loaders_before; ++loader) random.Draw32();
      random = PythonRandom(random.Draw32());  // the loader's own
      random = PythonRandom(random.Draw32());  // of its first epoch
      for (uint64_t earlier = 0; earlier < epoch; ++earlier) {
        random.SkipSample(n);
        random = PythonRandom(random.Draw32());
      }
      break;
  }
  return random;
}

void PythonSampleSampler::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  At(samples, epoch).SampleAll(static_cast<uint32_t>(samples), count, indices);
}

uint64_t PythonSampleSampler::StepsTo(uint64_t samples, uint64_t epoch) const {
  constexpr uint64_t kStepsALoader = 30;  // four outputs in the mean
  if (recipe_.epochs == SampleEpochs::kOnce) return 0;
  return kStepsAShuffledSample * epoch * samples + kStepsALoader * recipe_.loaders_before;
}

std::string PythonSampleSampler::Describe() const {
  const std::string seed = ", seed " + std::to_string(recipe_.seed);
  if (recipe_.epochs == SampleEpochs::kOnce) return "Python random.sample" + seed + ", same in every epoch";
  if (recipe_.epochs == SampleEpochs::kContinued) return "Python random.sample" + seed;
  const uint64_t before = recipe_.loaders_before;
  return "fastai DataLoader" + seed + (before == 0 ? "" : ", behind " + std::to_string(before) + " others");
}

}  // namespace augur
