// SPDX-License-Identifier: Apache-2.0
#include "samplers/seed_sequence.h"

#include "base/check.h"

namespace augur {
namespace {

// A multiplicative hash whose constant goes on with every word.
class Hash {
 public:
  Hash(uint32_t start, uint32_t factor) : constant_(start), factor_(factor) {}

  uint32_t operator()(uint32_t word) {
    word ^= constant_;
    constant_ *= factor_;
    word *= constant_;
    return word ^ (word >> 16);
  }

 private:
  uint32_t constant_;
  const uint32_t factor_;
};

uint32_t Mix(uint32_t x, uint32_t y) {
  const uint32_t mixed = 0xca01f9ddU * x - 0x4973f715U * y;
  return mixed ^ (mixed >> 16);
}

std::array<uint32_t, 4> MakePool(std::span<const uint32_t> entropy) {
  AUGUR_CHECK(!entropy.empty());
  Hash hash(0x43b0d7e5U, 0x931e8875U);
  std::array<uint32_t, 4> pool;
  for (size_t i = 0; i < pool.size(); ++i) pool[i] = hash(i < entropy.size() ? entropy[i] : 0);
  for (size_t from = 0; from < pool.size(); ++from) {
    for (size_t to = 0; to < pool.size(); ++to) {
      if (from != to) pool[to] = Mix(pool[to], hash(pool[from]));
    }
  }
  for (size_t from = pool.size(); from < entropy.size(); ++from) {
    for (uint32_t& word : pool) word = Mix(word, hash(entropy[from]));
  }
  return pool;
}

}  // namespace

SeedSequence::SeedSequence(std::span<const uint32_t> entropy) : pool_(MakePool(entropy)) {}

// A high half of 0 is as good as none: missing words are hashed as 0.
SeedSequence::SeedSequence(uint64_t seed)
    : SeedSequence(std::array<uint32_t, 2>{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}) {}

std::vector<uint32_t> SeedSequence::State32(size_t words) const {
  Hash hash(0x8b51f9ddU, 0x58f38dedU);
  std::vector<uint32_t> state(words);
  for (size_t i = 0; i < words; ++i) state[i] = hash(pool_[i % pool_.size()]);
  return state;
}

std::vector<uint64_t> SeedSequence::State64(size_t words) const {
  const std::vector<uint32_t> halves = State32(2 * words);
  std::vector<uint64_t> state(words);
  for (size_t i = 0; i < words; ++i) state[i] = halves[2 * i] | uint64_t{halves[2 * i + 1]} << 32;
  return state;
}

}  // namespace augur
