// SPDX-License-Identifier: Apache-2.0
#include "samplers/mt19937.h"

#include <algorithm>

#include "base/check.h"

namespace augur {
namespace {

constexpr size_t kWords = Mt19937::kWords;
constexpr size_t kMiddle = Mt19937::kMiddle;

// Words 0 .. count - 1 of init_genrand.
void Seed(uint32_t seed, size_t count, uint32_t* words) {
  words[0] = seed;
  for (size_t j = 1; j < count; ++j) {
    words[j] = 1812433253U * (words[j - 1] ^ (words[j - 1] >> 30)) + static_cast<uint32_t>(j);
  }
}

// The new word at a place: of the old one there, the old one behind it, and the one kMiddle further (around the end).
constexpr uint32_t TwistWord(uint32_t here, uint32_t behind, uint32_t middle) {
  const uint32_t joined = (here & 0x80000000U) | (behind & 0x7fffffffU);
  return middle ^ (joined >> 1) ^ (behind & 1U ? 0x9908b0dfU : 0U);
}

}  // namespace

Mt19937::Mt19937(uint32_t seed) : words_() { Seed(seed, kWords, words_.data()); }

Mt19937::Mt19937(std::span<const uint32_t> key) : Mt19937(19650218U) {
  AUGUR_CHECK(!key.empty());
  size_t i = 1;
  const auto step_on = [&] {
    if (++i == kWords) {
      words_[0] = words_[kWords - 1];
      i = 1;
    }
  };
  const auto mixed = [&](uint32_t factor) { return words_[i] ^ ((words_[i - 1] ^ (words_[i - 1] >> 30)) * factor); };
  for (size_t step = 0; step < std::max(kWords, key.size()); ++step) {
    const size_t j = step % key.size();
    words_[i] = mixed(1664525U) + key[j] + static_cast<uint32_t>(j);
    step_on();
  }
  for (size_t step = 1; step < kWords; ++step) {
    words_[i] = mixed(1566083941U) - static_cast<uint32_t>(i);
    step_on();
  }
  words_[0] = 0x80000000U;
}

void Mt19937::Discard(uint64_t count) {
  while (count > kWords - next_) {
    count -= kWords - next_;
    Twist();
  }
  next_ += count;
}

void Mt19937::Twist() {
  uint32_t* const w = words_.data();
  for (size_t k = 0; k < kWords - kMiddle; ++k) w[k] = TwistWord(w[k], w[k + 1], w[k + kMiddle]);
  // From here on the word in the middle is a new one.
  for (size_t k = kWords - kMiddle; k < kWords - 1; ++k) w[k] = TwistWord(w[k], w[k + 1], w[k + kMiddle - kWords]);
  w[kWords - 1] = TwistWord(w[kWords - 1], w[0], w[kMiddle - 1]);
  next_ = 0;
}

std::vector<uint32_t> FirstOutputs(uint32_t seed, size_t count) {
  AUGUR_CHECK(count <= kFirstOutputsMax);
  std::array<uint32_t, kWords> words;
  Seed(seed, kMiddle + count, words.data());
  std::vector<uint32_t> outputs(count);
  for (size_t k = 0; k < count; ++k) {
    outputs[k] = TemperMt19937(TwistWord(words[k], words[k + 1], words[k + kMiddle]));
  }
  return outputs;
}

}  // namespace augur
