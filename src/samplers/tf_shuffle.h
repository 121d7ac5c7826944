// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "samplers/sampler.h"
#include "samplers/tf_seed.h"

namespace augur {

struct SamplerFamily;

// How the epochs of a shuffled tf.data.Dataset follow from its seeds.
enum class TfEpochs {
  kReshuffled,  // reshuffle_each_iteration=True, which is the default: each epoch has seeds of its own
  kSame,        // reshuffle_each_iteration=False: each epoch is the first again
  kOneStream,   // shuffle and repeat fused by TensorFlow 1 and early 2: the draws of an epoch go on where those of the
                // last one ended. Since then a fused op has the epochs of the two (2.21 has)
};

// TfShuffleSampler is tf.data.Dataset.shuffle(buffer) of the numbers of the samples, before whatever reads the files.
// list_files(shuffle=True) is one whose buffer holds all files. (Where files are read before the shuffle they are read
// unshuffled.) A buffer that holds all samples gives a plain shuffle from the front. A smaller one gives a shuffle
// where a sample comes at most `buffer` - 1 places early, and late without limit. For what epochs are, see Sampler.
//
// Source: tensorflow/core/kernels/data/shuffle_dataset_op.cc.
class TfShuffleSampler final : public Sampler {
 public:
  // `buffer_samples` 0: all of them. REQUIRES: seeds other than (0, 0).
  TfShuffleSampler(TfSeeds seeds, uint64_t buffer_samples, TfEpochs epochs);

  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override;
  std::string Describe() const override;

 private:
  const TfSeeds seeds_;
  const uint64_t buffer_samples_;
  const TfEpochs epochs_;
};

// For the table in sampler_registry.cc.
extern const SamplerFamily kTfFamily;

}  // namespace augur
