// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace augur {

// SeedSequence is NumPy's hash of a seed into as many words of state as a generator wants: default_rng(seed) begins
// with it. Immutable, safe from any thread.
//
// Source: numpy/random/bit_generator.pyx, after M. O'Neill's seed_seq_fe.
class SeedSequence {
 public:
  // SeedSequence(seed), for a number.
  explicit SeedSequence(uint64_t seed);
  // The same for any number of 32 bit words, lowest first: SeedSequence([...]) of numbers below 2^32.
  // REQUIRES: !entropy.empty().
  explicit SeedSequence(std::span<const uint32_t> entropy);

  // generate_state(words, uint32)
  std::vector<uint32_t> State32(size_t words) const;
  // generate_state(words, uint64)
  std::vector<uint64_t> State64(size_t words) const;

 private:
  std::array<uint32_t, 4> pool_;
};

}  // namespace augur
