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
    {.family = &kTorchFamily, .turn = 1},        {.family = &kListShuffleFamily, .turn = 8},
    {.family = &kPythonSampleFamily, .turn = 6}, {.family = &kListLibraryFamily, .turn = 7},
    {.family = &kTfFamily, .turn = 4},           {.family = &kKerasFamily, .turn = 5},
    {.family = &kDaliFamily, .turn = 2},         {.family = &kWebdatasetFamily, .turn = 3},
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
