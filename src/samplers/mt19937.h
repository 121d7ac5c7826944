// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace augur {

// The tempering of MT19937: what becomes of a word of the state when it is given out.
constexpr uint32_t TemperMt19937(uint32_t word) {
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680U;
  word ^= (word << 15) & 0xefc60000U;
  return word ^ (word >> 18);
}

// Mt19937 is the 32 bit Mersenne twister with both of its ways to be seeded. torch, NumPy's RandomState and CPython's
// random all draw from it, and differ in the way and in what they make of the outputs. A copy goes on from where its
// original stood. For one thread; 2.5 KiB. std::mt19937 has no seeding by an array as these libraries do it, and its
// discard() tempers what it throws away.
//
// Source: M. Matsumoto, T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), and their mt19937ar of 2002.
class Mt19937 {
 public:
  static constexpr size_t kWords = 624;
  static constexpr size_t kMiddle = 397;

  // init_genrand: torch's manual_seed (of the low 32 bits), numpy.random.seed of a number below 2^32, std::mt19937.
  explicit Mt19937(uint32_t seed);
  // init_by_array: random.seed, numpy.random.seed of an array. REQUIRES: !key.empty().
  explicit Mt19937(std::span<const uint32_t> key);

  uint32_t Next() {
    if (next_ == kWords) Twist();
    return TemperMt19937(words_[next_++]);
  }
  // Two outputs as torch joins them: the first is the high half.
  uint64_t Next64() {
    const uint64_t high = Next();
    return (high << 32) | Next();
  }
  // Goes on as if `count` outputs had been taken: about 0.4 ns for each.
  void Discard(uint64_t count);

 private:
  void Twist();

  std::array<uint32_t, kWords> words_;
  // The word that is given out next; kWords: the state must be twisted before.
  size_t next_ = kWords;
};

// The first outputs of Mt19937(seed) without its whole state. Output k needs words k, k + 1 and k + 397 only, so
// `count` of them cost 397 + count steps of the seeding. REQUIRES: count <= kFirstOutputsMax.
inline constexpr size_t kFirstOutputsMax = Mt19937::kWords - Mt19937::kMiddle;
std::vector<uint32_t> FirstOutputs(uint32_t seed, size_t count);

}  // namespace augur
