// SPDX-License-Identifier: Apache-2.0
#include "samplers/python_sampler.h"

namespace augur {

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
