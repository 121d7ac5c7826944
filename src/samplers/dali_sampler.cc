// SPDX-License-Identifier: Apache-2.0
#include "samplers/dali_sampler.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "base/check.h"
#include "samplers/sampler_registry.h"

namespace augur {
namespace {

// One of each shard in turn: shard s begins at samples * s / shards.
IndexOrder InTurn(const IndexOrder& list, uint64_t shards, size_t count) {
  IndexOrder order;
  order.reserve(std::min(list.size(), count));
  const auto begin = [&](uint64_t shard) { return list.size() * shard / shards; };
  const uint64_t longest = (list.size() + shards - 1) / shards;
  for (uint64_t i = 0; i < longest; ++i) {
    for (uint64_t shard = 0; shard < shards; ++shard) {
      if (order.size() == count) return order;
      if (begin(shard) + i < begin(shard + 1)) order.push_back(list[begin(shard) + i]);
    }
  }
  return order;
}

template <DaliFileSampler::Epochs kEpochs>
SamplerResult MakeDali(const SamplerHint& hint) {
  return SharedSampler(DaliFileSampler(
      {.epochs = kEpochs,
       .seed = static_cast<int64_t>(hint.seed.value_or(static_cast<uint64_t>(DaliFileSampler::kDefaultSeed))),
       .shards = hint.world_size}));
}

constexpr NamedSampler kDaliNames[] = {
    {.name = "dali",
     .what = "DALI readers.file(random_shuffle=True); --world-size: shards",
     .make = MakeDali<DaliFileSampler::Epochs::kOnce>},
    {.name = "dali-after-epoch",
     .what = "DALI 2 readers.file(shuffle_after_epoch=True); seed is shuffle_after_epoch_seed",
     .make = MakeDali<DaliFileSampler::Epochs::kAfterEpoch>},
    {.name = "dali-1-after-epoch",
     .what = "the same of DALI 1",
     .make = MakeDali<DaliFileSampler::Epochs::kAfterEpoch1>},
};

void AddKnownDali(std::vector<KnownSampler>* known) {
  using Epochs = DaliFileSampler::Epochs;
  using Likelihood = KnownSampler::Likelihood;
  for (const auto way : {StdShuffle::kLibstdcxx11, StdShuffle::kLibstdcxx7}) {
    // The wheels of today are built by GCC 14.
    const auto likelihood = way == StdShuffle::kLibstdcxx11 ? Likelihood::kDefault : Likelihood::kDistant;
    AddKnown(DaliFileSampler({.epochs = Epochs::kOnce, .way = way}), likelihood, 1, known);
    for (const auto epochs : {Epochs::kAfterEpoch, Epochs::kAfterEpoch1}) {
      AddKnown(DaliFileSampler({.epochs = epochs, .way = way}), likelihood, 1, known);
      AddKnown(DaliFileSampler({.epochs = epochs, .checkpointing = true, .way = way}), likelihood, 1, known);
    }
  }
}

}  // namespace

constinit const SamplerFamily kDaliFamily = {.named = kDaliNames, .add_known = AddKnownDali};

DaliFileSampler::DaliFileSampler(Recipe recipe) : recipe_(recipe) { AUGUR_CHECK(recipe_.shards > 0); }

void DaliFileSampler::Shuffle(uint64_t epoch, IndexOrder* list) const {
  // The standard fixes what these two engines give.
  if (recipe_.epochs == Epochs::kOnce) {
    std::mt19937 generator(kDefaultSeed);
    ShuffleLikeStd(generator, recipe_.way, list);
    return;
  }
  for (uint64_t step = recipe_.checkpointing ? epoch : 0; step <= epoch; ++step) {
    // DALI counts its epochs from 1.
    if (recipe_.epochs == Epochs::kAfterEpoch1) {
      std::mt19937 generator(static_cast<uint32_t>(kDefaultSeed + step + 1));
      ShuffleLikeStd(generator, recipe_.way, list);
    } else {
      std::mt19937_64 generator(static_cast<uint64_t>(recipe_.seed) + ((step + 1) << 32));
      ShuffleLikeStd(generator, recipe_.way, list);
    }
  }
}

void DaliFileSampler::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  indices->resize(samples);
  std::iota(indices->begin(), indices->end(), 0U);
  Shuffle(epoch, indices);
  if (recipe_.shards > 1) *indices = InTurn(*indices, recipe_.shards, count);
  indices->resize(std::min(indices->size(), count));
}

uint64_t DaliFileSampler::StepsTo(uint64_t samples, uint64_t epoch) const {
  return recipe_.epochs == Epochs::kOnce || recipe_.checkpointing ? 0 : kStepsAShuffledSample * epoch * samples;
}

std::string DaliFileSampler::Describe() const {
  std::string text = "DALI readers.file, ";
  switch (recipe_.epochs) {
    case Epochs::kOnce: text += "random_shuffle"; break;
    case Epochs::kAfterEpoch: text += "shuffle_after_epoch, seed " + std::to_string(recipe_.seed); break;
    case Epochs::kAfterEpoch1: text += "shuffle_after_epoch of DALI 1"; break;
  }
  if (recipe_.checkpointing) text += ", checkpointing";
  if (recipe_.shards > 1) text += ", " + std::to_string(recipe_.shards) + " shards";
  if (recipe_.way == StdShuffle::kLibstdcxx7) text += ", built by GCC 7 to 10";
  return text;
}

}  // namespace augur
