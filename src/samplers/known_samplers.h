// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "samplers/sampler.h"

namespace augur {

// A sampler with a seed that many runs have, to be compared with the first reads before anything is searched.
struct KnownSampler {
  enum class Likelihood {
    kDefault,  // what a framework does by default
    kCustom,   // a seed that people like to give
    kVariant,  // the same where a library has many ways for each seed: nine tenths of all that is tried at once
    kDistant,  // a run that has gone on for long, or a seed of little fame
  };

  static constexpr uint64_t kFirstEpochs = 10;     // the script has just begun
  static constexpr uint64_t kDistantEpochs = 300;  // the daemon was started in the middle of a run

  std::shared_ptr<const Sampler> sampler;
  uint64_t epochs = 1;  // epochs 0 .. epochs - 1 are worth a try
  Likelihood likelihood = Likelihood::kDefault;
};

// All of them, the likeliest first. Those that share their first epoch (every RandomSampler with its own generator and
// the DistributedSampler of the same seed do) are told apart by the second only: try them all.
std::vector<KnownSampler> KnownSamplers();

// Appends a sampler that was just made.
template <typename Made>
void AddKnown(Made sampler, KnownSampler::Likelihood likelihood, uint64_t epochs, std::vector<KnownSampler>* known) {
  known->push_back({.sampler = SharedSampler(std::move(sampler)), .epochs = epochs, .likelihood = likelihood});
}

}  // namespace augur
