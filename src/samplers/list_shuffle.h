// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "samplers/sampler.h"

namespace augur {

struct SamplerFamily;

// Who shuffles a list from its end. See NumpyRandomState, NumpyGenerator, PythonRandom.
enum class ListShuffler {
  kNumpyRandomState,  // seeds below 2^32
  kNumpyGenerator,
  kPython,
};

// How the epochs of a shuffled list follow from its seed.
enum class ListEpochs {
  kOnce,           // shuffled once, read in that order in every epoch
  kSeedPlusEpoch,  // shuffled anew from its first order, with seed + epoch
  kContinued,      // shuffled anew from its first order, by a generator that goes on
  kInPlace,        // by a generator that goes on, and from the order of the epoch before
};

// ListShuffleSampler is a script or library that shuffles its list of samples, or of batches of neighbouring samples,
// with NumPy or Python. What lies in front is settled by the last draw, so any prefix costs the whole list; kContinued
// and kInPlace cost that for each earlier epoch, too.
//
// Which libraries: see SHUFFLES.md.
class ListShuffleSampler final : public Sampler {
 public:
  struct Recipe {
    ListShuffler shuffler = ListShuffler::kNumpyRandomState;
    uint64_t seed = 0;
    ListEpochs epochs = ListEpochs::kOnce;
    uint32_t batch_samples = 1;  // samples in each batch of the list; the last batch may be shorter
    std::string name = {};       // of the library, for Describe; empty: that of the shuffler
  };

  // REQUIRES: batch_samples > 0.
  explicit ListShuffleSampler(Recipe recipe);

  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override;
  std::string Describe() const override;
  uint64_t StepsTo(uint64_t samples, uint64_t epoch) const override;

 private:
  template <typename Random>
  void Shuffle(uint64_t epoch, IndexOrder* order) const;

  const Recipe recipe_;
};

// Scripts that shuffle a list themselves, and libraries that do. For the table in sampler_registry.cc.
extern const SamplerFamily kListShuffleFamily;
extern const SamplerFamily kListLibraryFamily;

}  // namespace augur
