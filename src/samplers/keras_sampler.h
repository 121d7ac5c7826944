// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "samplers/sampler.h"

namespace augur {

struct SamplerFamily;

// KerasImageSampler is keras.utils.image_dataset_from_directory(shuffle=True). The list of all files is shuffled once
// by NumPy. From Keras 3.3 on a tf.data shuffle of the list follows, anew in every epoch. Before 3.3 a shuffle of the
// decoded images follows, which does not move a file. A validation part is cut off the end of the list between the two.
// Indices are of the list before any of it, where all classes and both parts are. Without a seed Keras draws one below
// kSeedsWithout by numpy.random.randint, so a search over these finds it.
//
// Source: keras/src/utils/image_dataset_utils.py and dataset_utils.py, Keras 2.9 to 3.15. Not for format="grain".
class KerasImageSampler final : public Sampler {
 public:
  enum class Part { kAll, kTraining, kValidation };

  struct Recipe {
    uint32_t seed = 0;
    // batch_size; 0: None. Decides the buffer of the second shuffle.
    uint32_t batch_samples = 32;
    // After keras.utils.set_random_seed or tf.random.set_seed.
    std::optional<int64_t> global_seed = {};
    // The second shuffle moves files: Keras 3.3 and later. In a validation part of subset="both" there is none.
    bool second_shuffle = true;
    double validation_split = 0;
    Part part = Part::kAll;
  };

  static constexpr uint32_t kSeedsWithout = 1000000;

  explicit KerasImageSampler(Recipe recipe) : recipe_(recipe) {}

  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override;
  std::string Describe() const override;

  // How many samples early the second shuffle may bring a file, at most: 0 without it.
  uint64_t buffer_samples() const;

 private:
  const Recipe recipe_;
};

// The seed that image_dataset_from_directory draws when it is given none and numpy.random.seed(global_seed), which
// keras.utils.set_random_seed calls, was the last that touched NumPy's generator.
uint32_t KerasSeedAfter(uint32_t global_seed);

// For the table in sampler_registry.cc.
extern const SamplerFamily kKerasFamily;

}  // namespace augur
