// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "predict/identified_order.h"
#include "samplers/known_samplers.h"

namespace augur {

// A run may be resumed in any of its first epochs, up to this number of them.
inline constexpr uint64_t kLaterEpochs = 1000;

// The epochs in which a run may be resumed, by the known samplers that seed a generator anew for each (seed + epoch).
// First are all of what frameworks do by default. Then follow, of the others, the first epochs, the second ones, and so
// on. Up to `count_max`, each order once: epoch 5 of seed 42 is epoch 47 of seed 0.
std::vector<Guess> LaterEpochs(const std::vector<KnownSampler>& known, size_t count_max);

}  // namespace augur
