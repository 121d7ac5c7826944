// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "samplers/mt19937.h"

namespace augur {

// A state of mt19937, with room behind it for the vectors that reach over its end: by 16 words at most, one vector. 64
// are 192 bytes more than that.
inline constexpr size_t kTwistPad = 64;
struct alignas(64) TwistState {
  std::array<uint32_t, Mt19937::kWords + kTwistPad> words;
};

// Puts the state after `from` into *to (another one), and returns whether any of its words may be `wanted`. False is
// sure; true is right but for a chance of 1 in 10^8. Writes to what lies behind the words of both. Safe from any
// thread.
bool TwistAndLook(TwistState* from, TwistState* to, uint32_t wanted);

}  // namespace augur
