// SPDX-License-Identifier: Apache-2.0
#include "samplers/keras_sampler.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "samplers/list_shuffle.h"
#include "samplers/numpy_random.h"
#include "samplers/sampler_registry.h"
#include "samplers/tf_shuffle.h"

namespace augur {
namespace {

constexpr uint64_t kBatchesInBuffer = 8;
constexpr uint64_t kBufferWithoutBatches = 1024;

// What prediction tries: seeds of the tutorials of TensorFlow and Keras with usual batches, and more batches with a
// seed that a search has found.
constexpr uint32_t kTutorialSeeds[] = {123, 1337, 42};
constexpr uint32_t kUsualBatches[] = {32, 64, 128};
constexpr uint32_t kAllBatches[] = {32, 64, 128, 16, 256, 8, 0};

// Keeps the part of the list that is read: Python's int(split * len(list)) files at the end are for validation.
void KeepPart(const KerasImageSampler::Recipe& recipe, IndexOrder* list) {
  const auto validation = static_cast<ptrdiff_t>(recipe.validation_split * static_cast<double>(list->size()));
  const auto cut = list->end() - validation;
  if (recipe.part == KerasImageSampler::Part::kTraining) list->erase(cut, list->end());
  if (recipe.part == KerasImageSampler::Part::kValidation) list->erase(list->begin(), cut);
}

template <bool kSecondShuffle>
SamplerResult MakeKeras(const SamplerHint& hint) {
  AUGUR_TRY_ASSIGN(seed, hint.NeededSeed32());
  return SharedSampler(KerasImageSampler({.seed = seed,
                                          .batch_samples = static_cast<uint32_t>(hint.batch.value_or(32)),
                                          .second_shuffle = kSecondShuffle}));
}

constexpr NamedSampler kKerasNames[] = {
    {.name = "keras",
     .what = "image_dataset_from_directory(seed) of Keras 3.3 and later; --batch-size, 32 unless given",
     .make = MakeKeras<true>},
    {.name = "keras-2", .what = "the same of Keras before 3.3", .make = MakeKeras<false>},
};

// How image_dataset_from_directory may shuffle with this seed, the likeliest first: all files, and the training part
// beside a fifth for validation, each with these batches and as before Keras 3.3.
std::vector<KerasImageSampler::Recipe> KerasRecipes(uint32_t seed, std::span<const uint32_t> batches_samples) {
  using Part = KerasImageSampler::Part;
  std::vector<KerasImageSampler::Recipe> recipes;
  for (const double split : {0.0, 0.2}) {
    const Part part = split > 0 ? Part::kTraining : Part::kAll;
    for (const uint32_t batch : batches_samples) {
      recipes.push_back({.seed = seed, .batch_samples = batch, .validation_split = split, .part = part});
    }
    recipes.push_back({.seed = seed, .second_shuffle = false, .validation_split = split, .part = part});
  }
  return recipes;
}

void AddKnownKeras(std::vector<KnownSampler>* known) {
  for (const uint32_t seed : kTutorialSeeds) {
    for (const KerasImageSampler::Recipe& recipe : KerasRecipes(seed, kUsualBatches)) {
      AddKnown(KerasImageSampler(recipe), KnownSampler::Likelihood::kCustom, 1, known);
    }
  }
}

void AddKerasOfSeed(ListShuffler shuffler, uint64_t seed, std::vector<std::shared_ptr<const Sampler>>* samplers) {
  if (shuffler != ListShuffler::kNumpyRandomState) return;
  for (const KerasImageSampler::Recipe& recipe : KerasRecipes(static_cast<uint32_t>(seed), kAllBatches)) {
    samplers->push_back(SharedSampler(KerasImageSampler(recipe)));
  }
}

}  // namespace

constinit const SamplerFamily kKerasFamily = {
    .named = kKerasNames, .add_known = AddKnownKeras, .add_of_seed = AddKerasOfSeed};

uint64_t KerasImageSampler::buffer_samples() const {
  if (!recipe_.second_shuffle) return 0;
  return recipe_.batch_samples == 0 ? kBufferWithoutBatches : kBatchesInBuffer * recipe_.batch_samples;
}

void KerasImageSampler::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  indices->resize(samples);
  std::iota(indices->begin(), indices->end(), 0U);
  NumpyRandomState(recipe_.seed).Shuffle(indices);
  KeepPart(recipe_, indices);
  if (!recipe_.second_shuffle || indices->empty()) {
    indices->resize(std::min(indices->size(), count));
    return;
  }
  const TfSeeds seeds =
      recipe_.global_seed ? TfSeedsOfBoth(*recipe_.global_seed, recipe_.seed) : TfSeedsOfOp(recipe_.seed);
  IndexOrder places;
  TfShuffleSampler(seeds, buffer_samples(), TfEpochs::kReshuffled).Take(indices->size(), epoch, count, &places);
  for (uint32_t& place : places) place = (*indices)[place];
  *indices = std::move(places);
}

std::string KerasImageSampler::Describe() const {
  std::string text = "Keras image_dataset_from_directory, seed " + std::to_string(recipe_.seed);
  if (recipe_.second_shuffle) text += ", buffer of " + std::to_string(buffer_samples());
  if (!recipe_.second_shuffle) text += ", same in every epoch";
  if (recipe_.part == Part::kTraining) text += ", training part";
  if (recipe_.part == Part::kValidation) text += ", validation part";
  return text;
}

uint32_t KerasSeedAfter(uint32_t global_seed) {
  return NumpyRandomState(global_seed).Draw(KerasImageSampler::kSeedsWithout - 1);
}

}  // namespace augur
