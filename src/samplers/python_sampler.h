// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "samplers/python_random.h"
#include "samplers/sampler.h"

namespace augur {

struct SamplerFamily;

// How epochs of random.sample(samples, len(samples)) follow from a seed.
enum class SampleEpochs {
  kOnce,       // drawn once, read in that order in every epoch
  kContinued,  // drawn anew by a generator that goes on
  kFastai,     // drawn by a generator that each epoch makes anew, of a number that the one before draws
};

// PythonSampleSampler is a script or library that reads its samples in the order of Python's random.sample of all of
// them: fastai's DataLoader, for one. The order is settled from the front, so a prefix of an epoch costs its own length
// (and the seeding of a generator, 5 us). Each epoch before costs the draws of all its samples.
//
// Sources: Lib/random.py, fastai/data/load.py (__init__, randomize, shuffle_fn).
class PythonSampleSampler final : public Sampler {
 public:
  struct Recipe {
    uint64_t seed = 0;
    SampleEpochs epochs = SampleEpochs::kOnce;
    uint64_t loaders_before = 0;  // of kFastai: that were made between random.seed(seed) and this one
  };

  explicit PythonSampleSampler(const Recipe& recipe) : recipe_(recipe) {}

  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override;
  std::string Describe() const override;
  uint64_t StepsTo(uint64_t samples, uint64_t epoch) const override;

 private:
  // The generator as it stands before the draws of the epoch.
  PythonRandom At(uint64_t samples, uint64_t epoch) const;

  const Recipe recipe_;
};

// random.sample of scripts, and fastai. For the table in sampler_registry.cc.
extern const SamplerFamily kPythonSampleFamily;

}  // namespace augur
