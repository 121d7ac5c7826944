// SPDX-License-Identifier: Apache-2.0
#include "samplers/known_samplers.h"

#include <algorithm>
#include <span>

#include "samplers/sampler_registry.h"

namespace augur {

std::vector<KnownSampler> KnownSamplers() {
  const std::span<const RegisteredFamily> registry = SamplerRegistry();
  std::vector<RegisteredFamily> families(registry.begin(), registry.end());
  std::ranges::sort(families, {}, &RegisteredFamily::turn);
  std::vector<KnownSampler> known;
  for (const RegisteredFamily& row : families) {
    if (row.family->add_known != nullptr) row.family->add_known(&known);
  }
  std::ranges::stable_sort(known, {}, &KnownSampler::likelihood);
  return known;
}

}  // namespace augur
