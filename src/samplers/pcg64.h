// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace augur {

// Pcg64 is the generator behind numpy.random.default_rng: 128 bits of state, XSL-RR output. A copy goes on from where
// its original stood. For one thread.
//
// Source: M. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms", 2014; for the way
// in which 32 bit outputs are halves of 64 bit ones, numpy/random/src/pcg64/pcg64.h.
class Pcg64 {
 public:
  // PCG64(seed): seeded by SeedSequence(seed).
  explicit Pcg64(uint64_t seed);

  uint64_t Next64() {
    state_ = state_ * kFactor + increment_;
    const auto high = static_cast<uint64_t>(state_ >> 64);
    return std::rotr(high ^ static_cast<uint64_t>(state_), static_cast<int>(high >> 58));
  }
  // The low half of a new output, then its high half, which waits while 64 bit outputs are taken.
  uint32_t Next() {
    if (has_half_) {
      has_half_ = false;
      return half_;
    }
    const uint64_t both = Next64();
    has_half_ = true;
    half_ = static_cast<uint32_t>(both >> 32);
    return static_cast<uint32_t>(both);
  }

 private:
  __extension__ using Word = unsigned __int128;
  static constexpr Word kFactor = (Word{2549297995355413924U} << 64) + 4865540595714422341U;

  Word state_;
  Word increment_;
  bool has_half_ = false;
  uint32_t half_ = 0;
};

}  // namespace augur
