// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "samplers/known_samplers.h"
#include "samplers/rank_subset.h"
#include "samplers/sampler.h"
#include "samplers/sampler_hint.h"

namespace augur {

enum class ListShuffler;  // samplers/list_shuffle.h

using SamplerResult = Result<std::shared_ptr<const Sampler>>;

// A sampler that users can name, and how it is made of a hint. Its epochs follow each other as Sampler::Take says, and
// Sampler::Describe is its text in the status.
struct NamedSampler {
  std::string_view name;
  std::string_view what;  // "torch DistributedSampler; seed 0 unless given"
  // Fails with kInvalid where the hint lacks what this one needs; the text says what.
  SamplerResult (*make)(const SamplerHint& hint);
  RankSubset::Kind share = RankSubset::Kind::kStrided;
  bool is_endless = false;  // its ranks stride on over the ends of epochs: see RankSubset::RankOf
};

// SamplerFamily is what AugurFS knows of the samplers of one library, or of scripts that shuffle in one way. The file
// of the sampler defines it as a constant, and the table in sampler_registry.cc has a row for it. Immutable.
struct SamplerFamily {
  std::span<const NamedSampler> named;
  // Appends the samplers that prediction tries without a hint, with their seeds, in the order of the trials. Null:
  // none.
  void (*add_known)(std::vector<KnownSampler>* known) = nullptr;
  // Appends the samplers that may be it when a search has found the seed of a shuffle from a list's end
  // (EndShuffleSearch), those with the same first epoch together. Null: none.
  void (*add_of_seed)(ListShuffler shuffler, uint64_t seed,
                      std::vector<std::shared_ptr<const Sampler>>* samplers) = nullptr;
};

// A row of the registry.
struct RegisteredFamily {
  const SamplerFamily* family;
  // The families' trials of one likelihood have the ascending order of this number. The first of two that agree equally
  // with the reads is believed.
  uint32_t turn;
};

// All families, in the order in which a list for users has them.
std::span<const RegisteredFamily> SamplerRegistry();

// All samplers that users can name, in that order.
std::vector<NamedSampler> NamedSamplers();

// All samplers that may shuffle a list from its end with this seed, the likeliest first.
std::vector<std::shared_ptr<const Sampler>> SamplersOfSeed(ListShuffler shuffler, uint64_t seed);

}  // namespace augur
