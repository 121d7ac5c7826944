// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "samplers/rank_subset.h"
#include "samplers/sampler.h"
#include "samplers/sampler_hint.h"

namespace augur {

// A hint understood: the sampler, share and epochs of the reads from now on.
struct SamplerDescription {
  std::shared_ptr<const Sampler> sampler;
  RankSubset share;
  uint64_t first_epoch = 0;
  bool is_endless = false;
  std::optional<uint64_t> part_size = std::nullopt;  // samples of the part that a split has left; else it is all
  // The sampler draws its seeds from the stream of --seed, but its place there was not given. The position in `sampler`
  // holds only if nothing else was drawn before. So the stream of this seed should be searched when the first reads
  // deny it.
  std::optional<uint64_t> stream_seed = std::nullopt;
  std::vector<std::string> words = {};  // SamplerHint::words

  // The first `count` indices that the ranks of this host read in an epoch, of all of them for SIZE_MAX.
  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const;

  // Whether the first epoch of `samples` samples can be taken at once. kInvalid: a generator would have to be stepped
  // over more than kStepsMax random numbers before, and whoever waits for that waits for long.
  static constexpr uint64_t kStepsMax = uint64_t{1} << 33;  // 3.4 s: epoch 3,352 of two permutations of 1.3 million
  Status CheckReach(uint64_t samples) const;

  // For people: "torch DistributedSampler, seed 42 + epoch, ranks 0-3 of 8, from epoch 2".
  std::string Describe() const;
};

// kInvalid: no sampler of that name (the text lists the names), or the hint lacks what the sampler needs.
Result<SamplerDescription> ResolveSamplerHint(const SamplerHint& hint);

}  // namespace augur
