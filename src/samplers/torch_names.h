// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "samplers/sampler_registry.h"

namespace augur {

// The samplers of torch and of the frameworks on it, each with the defaults of its framework: rows of one table.
extern const SamplerFamily kTorchFamily;

// The seed of the global generator that a TorchSampler draws from; nothing for all others.
std::optional<uint64_t> TorchStreamSeed(const Sampler& sampler);

}  // namespace augur
