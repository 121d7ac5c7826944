// SPDX-License-Identifier: Apache-2.0
#include "samplers/list_shuffle.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "samplers/common_seeds.h"
#include "samplers/numpy_random.h"
#include "samplers/python_random.h"
#include "samplers/sampler_registry.h"
#include "samplers/torch_recipes.h"

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

template <ListShuffler kShuffler, ListEpochs kEpochs>
SamplerResult MakeListShuffle(const SamplerHint& hint) {
  if (kShuffler == ListShuffler::kNumpyRandomState) AUGUR_TRY(hint.NeededSeed32().status());
  AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
  return SharedSampler(ListShuffleSampler(
      {.shuffler = kShuffler, .seed = seed, .epochs = hint.same_epoch ? ListEpochs::kOnce : kEpochs}));
}

constexpr NamedSampler kListShuffleNames[] = {
    {.name = "numpy",
     .what = "numpy.random.seed(seed), then numpy.random.permutation in every epoch; --same-epoch: only once",
     .make = MakeListShuffle<ListShuffler::kNumpyRandomState, ListEpochs::kContinued>},
    {.name = "numpy-in-place",
     .what = "numpy.random.seed(seed), then numpy.random.shuffle of the same list in every epoch",
     .make = MakeListShuffle<ListShuffler::kNumpyRandomState, ListEpochs::kInPlace>},
    {.name = "numpy-generator",
     .what = "g = numpy.random.default_rng(seed), then g.permutation in every epoch; --same-epoch: only once",
     .make = MakeListShuffle<ListShuffler::kNumpyGenerator, ListEpochs::kContinued>},
    {.name = "python",
     .what = "random.seed(seed), then random.shuffle of a list in its first order; --same-epoch: only once",
     .make = MakeListShuffle<ListShuffler::kPython, ListEpochs::kContinued>},
    {.name = "python-in-place",
     .what = "random.seed(seed), then random.shuffle of the same list in every epoch",
     .make = MakeListShuffle<ListShuffler::kPython, ListEpochs::kInPlace>},
};

void AddKnownListShuffles(std::vector<KnownSampler>* known) {
  for (const uint64_t seed : kCommonestSeeds) {
    for (const auto shuffler :
         {ListShuffler::kNumpyRandomState, ListShuffler::kPython, ListShuffler::kNumpyGenerator}) {
      // The first epoch is the same for all ways but one; which way it is, the second epoch shows.
      for (const auto epochs :
           {ListEpochs::kOnce, ListEpochs::kContinued, ListEpochs::kInPlace, ListEpochs::kSeedPlusEpoch}) {
        AddKnown(ListShuffleSampler({.shuffler = shuffler, .seed = seed, .epochs = epochs}),
                 KnownSampler::Likelihood::kCustom, 1, known);
      }
    }
  }
}

void AddListShufflesOfSeed(ListShuffler shuffler, uint64_t seed,
                           std::vector<std::shared_ptr<const Sampler>>* samplers) {
  for (const auto epochs :
       {ListEpochs::kOnce, ListEpochs::kInPlace, ListEpochs::kContinued, ListEpochs::kSeedPlusEpoch}) {
    samplers->push_back(SharedSampler(ListShuffleSampler({.shuffler = shuffler, .seed = seed, .epochs = epochs})));
  }
}

ListShuffleSampler Fairseq(uint64_t seed, uint32_t batch_samples) {
  return ListShuffleSampler(
      {.seed = seed, .epochs = ListEpochs::kSeedPlusEpoch, .batch_samples = batch_samples, .name = "fairseq batches"});
}

// With distributed=True FFCV shuffles by torch's DistributedSampler, which pads, and whose seed is 0 unless given.
SamplerResult MakeFfcv(const SamplerHint& hint) {
  if (hint.world_size == 1) {
    return MakeListShuffle<ListShuffler::kNumpyGenerator, ListEpochs::kSeedPlusEpoch>(hint);
  }
  SamplerHint padded = hint;
  padded.drop_last = false;
  return MakeDistributed(padded, "FFCV DistributedSampler", 0);
}

constexpr NamedSampler kListLibraryNames[] = {
    {.name = "ffcv",
     .what = "FFCV's OrderOption.RANDOM, seed + epoch; several ranks: DistributedSampler, seed 0 unless given",
     .make = MakeFfcv},
    {.name = "datasets",
     .what = "Hugging Face datasets, Dataset.shuffle(seed)",
     .make = MakeListShuffle<ListShuffler::kNumpyGenerator, ListEpochs::kOnce>},
    {.name = "fairseq",
     .what = "fairseq's batches, seed + epoch, seed 1 unless given; --batch-size",
     .make = [](const SamplerHint& hint) -> SamplerResult {
       // fairseq counts its epochs from 1.
       return SharedSampler(Fairseq(hint.seed.value_or(1) + 1, static_cast<uint32_t>(hint.batch.value_or(1))));
     },
     .share = RankSubset::Kind::kBatches},
};

void AddKnownListLibraries(std::vector<KnownSampler>* known) {
  AddKnown(Fairseq(1, 1), KnownSampler::Likelihood::kCustom, 3, known);
}

}  // namespace

constinit const SamplerFamily kListShuffleFamily = {
    .named = kListShuffleNames, .add_known = AddKnownListShuffles, .add_of_seed = AddListShufflesOfSeed};
constinit const SamplerFamily kListLibraryFamily = {.named = kListLibraryNames, .add_known = AddKnownListLibraries};

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
