// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "predict/identified_order.h"

namespace augur {

// A guess as a line of text, so that a restarted daemon goes on where it was. Such lines are "torch-run seed 5 offset 2
// trailing 1 extra 2 burnt 0 epoch 3" and "torch-drawn seed 42 position 623 stride 4 epoch 1". A third kind is
// "torch-fresh seed 7 step 1 epoch 9". Empty for a sampler that has no such text: those that are known by a framework's
// default or a common seed need none.
std::string RenderGuess(const Guess& guess);

// What RenderGuess made; none for any other text.
std::optional<Guess> ParseGuess(std::string_view text);

}  // namespace augur
