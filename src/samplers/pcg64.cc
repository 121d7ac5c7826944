// SPDX-License-Identifier: Apache-2.0
#include "samplers/pcg64.h"

#include <vector>

#include "samplers/seed_sequence.h"

namespace augur {

Pcg64::Pcg64(uint64_t seed) {
  const std::vector<uint64_t> words = SeedSequence(seed).State64(4);
  increment_ = ((Word{words[2]} << 64 | words[3]) << 1) | 1;
  // From a state of 0 two steps are made, and the seed is added between them.
  state_ = increment_ + (Word{words[0]} << 64 | words[1]);
  state_ = state_ * kFactor + increment_;
}

}  // namespace augur
