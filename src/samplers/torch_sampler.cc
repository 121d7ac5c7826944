// SPDX-License-Identifier: Apache-2.0
#include "samplers/torch_sampler.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

namespace augur {
namespace {

std::unique_ptr<const SeededStream> StreamOf(const TorchGenerator& generator) {
  if (const auto* drawn = std::get_if<DrawnSeed>(&generator)) {
    return std::make_unique<const SeededStream>(static_cast<uint32_t>(drawn->stream_seed));
  }
  if (const auto* run = std::get_if<RunStream>(&generator)) {
    return std::make_unique<const SeededStream>(static_cast<uint32_t>(run->seed));
  }
  return nullptr;
}

}  // namespace

TorchSampler::TorchSampler(TorchRecipe recipe) : recipe_(std::move(recipe)), stream_(StreamOf(recipe_.generator)) {}

void TorchSampler::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  const uint64_t listed = ListLength(samples);
  TakeList(samples, epoch, recipe_.shape.Needed(listed, count), indices);
  recipe_.shape.Apply(listed, count, indices);
}

// Outputs of the stream before the one that the epoch begins with.
uint64_t TorchSampler::StepsTo(uint64_t samples, uint64_t epoch) const {
  if (const auto* drawn = std::get_if<DrawnSeed>(&recipe_.generator)) return drawn->position + epoch * drawn->stride;
  const auto* run = std::get_if<RunStream>(&recipe_.generator);
  if (run == nullptr) return 0;
  const uint64_t burnt = run->burnt * TorchPermutationOutputs(samples);
  return run->offset + burnt + epoch * OutputsAnEpoch(samples);
}

std::string TorchSampler::Describe() const {
  if (recipe_.draw == TorchRecipe::Draw::kNone) return recipe_.name;
  return recipe_.name + ", " + DescribeGenerator(recipe_.generator);
}

// The first `count` indices of the list that the shape begins with.
void TorchSampler::TakeList(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  if (recipe_.draw == TorchRecipe::Draw::kNone) {
    indices->resize(std::min<uint64_t>(count, samples));
    std::iota(indices->begin(), indices->end(), uint32_t{0});
    return;
  }
  if (std::holds_alternative<RunStream>(recipe_.generator)) {
    return TakePermutations(stream_->At(StepsTo(samples, epoch)), samples, count, indices);
  }
  uint64_t seed = 0;
  if (const auto* fresh = std::get_if<FreshSeed>(&recipe_.generator)) {
    seed = fresh->seed + epoch * fresh->step;
  } else {
    seed = stream_->At(StepsTo(samples, epoch)).Next();
  }
  if (recipe_.draw == TorchRecipe::Draw::kPermutation && count <= samples) {
    return TorchPermutationOfSeed(seed, samples, count, indices);
  }
  TakePermutations(TorchEngine(seed), samples, count, indices);
}

// Permutation after permutation from one engine, until there are `count` indices.
void TorchSampler::TakePermutations(const Mt19937& engine, uint64_t samples, size_t count, IndexOrder* indices) const {
  if (recipe_.draw == TorchRecipe::Draw::kReplacement) return TorchReplacement(engine, samples, count, indices);
  TorchPermutation(engine, samples, count, indices);
  Mt19937 own = engine;
  for (IndexOrder more; indices->size() < count; indices->insert(indices->end(), more.begin(), more.end())) {
    own.Discard(TorchPermutationOutputs(samples));
    TorchPermutation(own, samples, count - indices->size(), &more);
  }
}

// How many outputs of a RunStream lie between the beginnings of two epochs.
uint64_t TorchSampler::OutputsAnEpoch(uint64_t samples) const {
  const RunStream& run = std::get<RunStream>(recipe_.generator);
  const uint64_t listed = ListLength(samples);
  if (recipe_.draw == TorchRecipe::Draw::kReplacement) {
    return run.extra + listed * (samples >= kTorchWideRandint ? 2 : 1);
  }
  // A RandomSampler draws the whole permutations that num_samples holds, and one more for the rest even if it is none.
  const uint64_t permutations = run.trailing ? listed / samples + 1 : (listed + samples - 1) / samples;
  return run.extra + permutations * TorchPermutationOutputs(samples);
}

std::optional<uint64_t> TorchStreamSeed(const Sampler& sampler) {
  const auto* torch = dynamic_cast<const TorchSampler*>(&sampler);
  const auto* drawn = torch == nullptr ? nullptr : std::get_if<DrawnSeed>(&torch->recipe().generator);
  if (drawn == nullptr) return std::nullopt;
  return drawn->stream_seed;
}

}  // namespace augur
