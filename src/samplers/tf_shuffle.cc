// SPDX-License-Identifier: Apache-2.0
#include "samplers/tf_shuffle.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "samplers/common_seeds.h"
#include "samplers/front_shuffle.h"
#include "samplers/philox.h"
#include "samplers/sampler_registry.h"

namespace augur {
namespace {

// The generator as it stands at the beginning of an epoch.
TfPhilox AtEpoch(TfSeeds seeds, TfEpochs epochs, uint64_t samples, uint64_t epoch) {
  TfPhilox philox(seeds.seed, seeds.seed2);
  switch (epochs) {
    case TfEpochs::kSame: break;
    case TfEpochs::kOneStream:
      // One draw for each sample, for the last one of an epoch, too.
      philox.Discard(samples * epoch);
      break;
    case TfEpochs::kReshuffled: {
      philox.Discard(2 * epoch);
      const uint32_t seed = philox.Next();
      return {seed, philox.Next()};
    }
  }
  return philox;
}

SamplerResult MakeTf(const SamplerHint& hint, TfSeeds seeds) {
  return SharedSampler(
      TfShuffleSampler(seeds, hint.buffer.value_or(0), hint.same_epoch ? TfEpochs::kSame : TfEpochs::kReshuffled));
}

constexpr NamedSampler kTfNames[] = {
    {.name = "tf",
     .what = "tf.data shuffle(buffer, seed); --buffer, all samples unless given; --same-epoch for no reshuffle",
     .make = [](const SamplerHint& hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       return MakeTf(hint, TfSeedsOfOp(static_cast<int64_t>(seed)));
     }},
    {.name = "tf-global",
     .what = "tf.data shuffle(buffer) after tf.random.set_seed(seed); --position: random ops without a seed before it",
     .make = [](const SamplerHint& hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       return MakeTf(hint, TfSeedsOfGlobal(static_cast<int64_t>(seed), hint.position.value_or(0)));
     }},
};

// Buffers of tf.data that prediction tries; 0 holds all samples.
constexpr uint64_t kUsualBuffers[] = {0, 1000, 10000, 1024, 2048, 4096, 8192, 100, 500, 5000};
// Random ops without a seed between tf.random.set_seed and the shuffle: the layers of a model are later.
constexpr uint64_t kCallsBefore = 4;

void AddKnownTf(std::vector<KnownSampler>* known) {
  using Likelihood = KnownSampler::Likelihood;
  constexpr uint64_t kFirst = KnownSampler::kFirstEpochs;
  for (const uint64_t seed : kCommonSeeds) {
    const auto number = static_cast<int64_t>(seed);
    std::vector<TfSeeds> pairs = {TfSeedsOfOp(number), TfSeedsOfBoth(number, number)};
    for (uint64_t call = 0; call < kCallsBefore; ++call) pairs.push_back(TfSeedsOfGlobal(number, call));
    for (const TfSeeds pair : pairs) {
      for (const uint64_t buffer : kUsualBuffers) {
        AddKnown(TfShuffleSampler(pair, buffer, TfEpochs::kReshuffled), Likelihood::kVariant, kFirst, known);
        AddKnown(TfShuffleSampler(pair, buffer, TfEpochs::kSame), Likelihood::kVariant, 1, known);
      }
      AddKnown(TfShuffleSampler(pair, 0, TfEpochs::kReshuffled), Likelihood::kDistant, KnownSampler::kDistantEpochs,
               known);
    }
  }
}

}  // namespace

constinit const SamplerFamily kTfFamily = {.named = kTfNames, .add_known = AddKnownTf};

TfShuffleSampler::TfShuffleSampler(TfSeeds seeds, uint64_t buffer_samples, TfEpochs epochs)
    : seeds_(seeds), buffer_samples_(buffer_samples), epochs_(epochs) {
  AUGUR_CHECK(seeds_ != TfSeeds{});
}

void TfShuffleSampler::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  TfPhilox philox = AtEpoch(seeds_, epochs_, samples, epoch);
  const uint64_t buffer = buffer_samples_ == 0 ? samples : buffer_samples_;
  // A ring that takes in sample i + buffer when sample i has left is the list itself, of which draws see as
  // many places.
  FrontShuffle(
      samples, count, [&](uint64_t left) { return philox.Next() % std::min(left, buffer); }, indices);
}

std::string TfShuffleSampler::Describe() const {
  std::string text = "tf.data shuffle, seeds " + std::to_string(seeds_.seed) + " and " + std::to_string(seeds_.seed2);
  if (buffer_samples_ != 0) text += ", buffer of " + std::to_string(buffer_samples_);
  if (epochs_ == TfEpochs::kSame) return text + ", same in every epoch";
  return epochs_ == TfEpochs::kOneStream ? text + ", fused with repeat" : text;
}

}  // namespace augur
