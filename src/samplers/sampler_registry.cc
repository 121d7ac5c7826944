// SPDX-License-Identifier: Apache-2.0
#include "samplers/sampler_registry.h"

#include "samplers/dali_sampler.h"
#include "samplers/keras_sampler.h"
#include "samplers/list_shuffle.h"
#include "samplers/python_sampler.h"
#include "samplers/tf_shuffle.h"
#include "samplers/torch_recipes.h"
#include "samplers/webdataset_sampler.h"

namespace augur {
namespace {

constexpr RegisteredFamily kRegistry[] = {
    {.family = &kTorchFamily, .turn = 1},         // torch and the frameworks on it
    {.family = &kListShuffleFamily, .turn = 8},   // scripts that shuffle by NumPy or Python
    {.family = &kPythonSampleFamily, .turn = 6},  // random.sample, fastai
    {.family = &kListLibraryFamily, .turn = 7},   // FFCV, Hugging Face datasets, fairseq
    {.family = &kTfFamily, .turn = 4},            // tf.data
    {.family = &kKerasFamily, .turn = 5},         // image_dataset_from_directory
    {.family = &kDaliFamily, .turn = 2},          // readers.file
    {.family = &kWebdatasetFamily, .turn = 3},    // shards
};

}  // namespace

std::span<const RegisteredFamily> SamplerRegistry() { return kRegistry; }

std::vector<NamedSampler> NamedSamplers() {
  std::vector<NamedSampler> named;
  for (const RegisteredFamily& row : kRegistry) {
    named.insert(named.end(), row.family->named.begin(), row.family->named.end());
  }
  return named;
}

std::vector<std::shared_ptr<const Sampler>> SamplersOfSeed(ListShuffler shuffler, uint64_t seed) {
  std::vector<std::shared_ptr<const Sampler>> samplers;
  for (const RegisteredFamily& row : kRegistry) {
    if (row.family->add_of_seed != nullptr) row.family->add_of_seed(shuffler, seed, &samplers);
  }
  return samplers;
}

}  // namespace augur
