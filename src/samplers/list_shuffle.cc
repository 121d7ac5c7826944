// SPDX-License-Identifier: Apache-2.0
#include "samplers/list_shuffle.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "samplers/numpy_random.h"
#include "samplers/python_random.h"

namespace augur {
namespace {

template <typename Random>
Random Seeded(uint64_t seed) {
  return Random(seed);
}

template <>
NumpyRandomState Seeded(uint64_t seed) {
  return NumpyRandomState(static_cast<uint32_t>(seed));
}

// The samples of the batches in the order of these, the first `count` of them.
IndexOrder SamplesOf(const IndexOrder& batches, uint64_t batch_samples, uint64_t samples, size_t count) {
  IndexOrder indices;
  indices.reserve(std::min<uint64_t>(count + batch_samples, samples));
  for (const uint32_t batch : batches) {
    if (indices.size() >= count) break;
    const uint64_t begin = batch * batch_samples;
    for (uint64_t i = begin; i < std::min(begin + batch_samples, samples); ++i) {
      indices.push_back(static_cast<uint32_t>(i));
    }
  }
  return indices;
}

}  // namespace

ListShuffleSampler::ListShuffleSampler(Recipe recipe) : recipe_(std::move(recipe)) {
  AUGUR_CHECK(recipe_.batch_samples > 0);
}

template <typename Random>
void ListShuffleSampler::Shuffle(uint64_t epoch, IndexOrder* order) const {
  const bool goes_on = recipe_.epochs == ListEpochs::kContinued || recipe_.epochs == ListEpochs::kInPlace;
  auto random = Seeded<Random>(recipe_.epochs == ListEpochs::kSeedPlusEpoch ? recipe_.seed + epoch : recipe_.seed);
  for (uint64_t earlier = 0; goes_on && earlier < epoch; ++earlier) random.Shuffle(order);
  if (recipe_.epochs != ListEpochs::kInPlace) std::iota(order->begin(), order->end(), 0U);
  random.Shuffle(order);
}

void ListShuffleSampler::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  const uint64_t items = (samples + recipe_.batch_samples - 1) / recipe_.batch_samples;
  indices->resize(items);
  std::iota(indices->begin(), indices->end(), 0U);
  switch (recipe_.shuffler) {
    case ListShuffler::kNumpyRandomState: Shuffle<NumpyRandomState>(epoch, indices); break;
    case ListShuffler::kNumpyGenerator: Shuffle<NumpyGenerator>(epoch, indices); break;
    case ListShuffler::kPython: Shuffle<PythonRandom>(epoch, indices); break;
  }
  if (recipe_.batch_samples > 1) *indices = SamplesOf(*indices, recipe_.batch_samples, samples, count);
  indices->resize(std::min<size_t>(indices->size(), count));
}

uint64_t ListShuffleSampler::StepsTo(uint64_t samples, uint64_t epoch) const {
  const bool goes_on = recipe_.epochs == ListEpochs::kContinued || recipe_.epochs == ListEpochs::kInPlace;
  return goes_on ? kStepsAShuffledSample * epoch * samples / recipe_.batch_samples : 0;
}

std::string ListShuffleSampler::Describe() const {
  std::string text = recipe_.name;
  if (text.empty()) {
    switch (recipe_.shuffler) {
      case ListShuffler::kNumpyRandomState: text = "numpy RandomState shuffle"; break;
      case ListShuffler::kNumpyGenerator: text = "numpy Generator shuffle"; break;
      case ListShuffler::kPython: text = "Python random.shuffle"; break;
    }
  }
  text += ", seed " + std::to_string(recipe_.seed);
  if (recipe_.epochs == ListEpochs::kSeedPlusEpoch) text += " + epoch";
  if (recipe_.epochs == ListEpochs::kOnce) text += ", same in every epoch";
  if (recipe_.epochs == ListEpochs::kInPlace) text += ", shuffled further in every epoch";
  if (recipe_.batch_samples > 1) text += ", batches of " + std::to_string(recipe_.batch_samples);
  return text;
}

}  // namespace augur
