// SPDX-License-Identifier: Apache-2.0
#include "samplers/webdataset_sampler.h"

#include <algorithm>

#include "base/check.h"
#include "samplers/python_random.h"
#include "samplers/sampler_registry.h"

namespace augur {
namespace {

template <bool kSeedPlusEpoch>
SamplerResult MakeWebdataset(const SamplerHint& hint) {
  AUGUR_TRY_ASSIGN(seed, kSeedPlusEpoch ? Result<uint64_t>(hint.seed.value_or(0)) : hint.NeededSeed());
  return SharedSampler(WebdatasetSampler({.seed = seed,
                                          .buffer_shards = hint.buffer.value_or(100),
                                          .seed_plus_epoch = kSeedPlusEpoch,
                                          .workers = hint.world_size}));
}

constexpr NamedSampler kWebdatasetNames[] = {
    {.name = "webdataset",
     .what = "shards of WebDataset(shardshuffle, seed); --buffer: shardshuffle; --world-size: workers of all ranks",
     .make = MakeWebdataset<false>},
    {.name = "webdataset-detshuffle",
     .what = "the same with detshuffle=True, seed + epoch, seed 0 unless given",
     .make = MakeWebdataset<true>},
};

void AddKnownWebdataset(std::vector<KnownSampler>* known) {
  AddKnown(WebdatasetSampler({.seed = 0, .seed_plus_epoch = true}), KnownSampler::Likelihood::kCustom,
           KnownSampler::kFirstEpochs, known);
}

}  // namespace

constinit const SamplerFamily kWebdatasetFamily = {.named = kWebdatasetNames, .add_known = AddKnownWebdataset};

WebdatasetSampler::WebdatasetSampler(Recipe recipe) : recipe_(recipe) {
  AUGUR_CHECK(recipe_.workers > 0 && recipe_.buffer_shards > 0);
}

IndexOrder WebdatasetSampler::TakePlaces(uint64_t shards, uint64_t epoch, size_t count) const {
  PythonRandom random(recipe_.seed_plus_epoch ? recipe_.seed + epoch : recipe_.seed);
  const uint64_t initial = std::min(recipe_.initial_shards, recipe_.buffer_shards);
  const size_t wanted = std::min<uint64_t>(count, shards);
  IndexOrder buffer;
  IndexOrder places;
  for (uint32_t next = 0; places.size() < wanted;) {
    if (next < shards) buffer.push_back(next++);
    // While the buffer is not full it takes in two shards for each that it gives.
    if (next < shards && buffer.size() < recipe_.buffer_shards) buffer.push_back(next++);
    if (next < shards && buffer.size() < initial) continue;
    const uint32_t picked = random.Draw(static_cast<uint32_t>(buffer.size() - 1));
    places.push_back(buffer[picked]);
    buffer[picked] = buffer.back();
    buffer.pop_back();
  }
  return places;
}

void WebdatasetSampler::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  const uint64_t workers = std::min(recipe_.workers, samples);
  // The first workers have one shard more where it does not come out even; only then do their draws differ.
  const uint64_t longest = (samples + workers - 1) / workers;
  const uint64_t with_longest = samples - (longest - 1) * workers;
  const size_t each = count / workers < longest ? count / workers + 1 : longest;
  const IndexOrder places = TakePlaces(longest, epoch, each);
  const IndexOrder shorter = with_longest == workers ? IndexOrder() : TakePlaces(longest - 1, epoch, each);
  indices->clear();
  for (size_t i = 0; i < each; ++i) {
    for (uint64_t worker = 0; worker < workers; ++worker) {
      const IndexOrder& its = worker < with_longest ? places : shorter;
      if (indices->size() == count) return;
      if (i < its.size()) indices->push_back(static_cast<uint32_t>(its[i] * workers + worker));
    }
  }
}

std::string WebdatasetSampler::Describe() const {
  std::string text = "webdataset shards, seed " + std::to_string(recipe_.seed);
  if (recipe_.seed_plus_epoch) text += " + epoch";
  text += ", buffer of " + std::to_string(recipe_.buffer_shards);
  if (recipe_.workers > 1) text += ", " + std::to_string(recipe_.workers) + " workers";
  return text;
}

}  // namespace augur
