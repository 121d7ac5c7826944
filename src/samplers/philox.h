// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace augur {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

// Philox4x32-10: four outputs for a counter and a key. Source: J. Salmon et al., "Parallel Random Numbers: As Easy as
// 1, 2, 3", SC 2011.
PhiloxCounter Philox4x32(PhiloxCounter counter, PhiloxKey key);

// TfPhilox gives Philox's outputs one by one as TensorFlow's shuffle takes them. The key is the first seed, the high
// half of the counter the second, and the low half counts from 0. A copy goes on from where its original stood. For one
// thread. Source: tsl/lib/random/philox_random.h, random_distributions.h (SingleSampleAdapter).
class TfPhilox {
 public:
  TfPhilox(uint64_t seed, uint64_t seed2) : seed_(seed), seed2_(seed2) {}

  uint32_t Next() {
    const size_t word = next_++ % 4;
    if (word == 0 || fresh_) Fill();
    return outputs_[word];
  }
  // Goes on as if `count` outputs had been taken. Costs nothing.
  void Discard(uint64_t count) {
    next_ += count;
    fresh_ = true;
  }

 private:
  // Computes the four outputs of which the last that was counted is one.
  void Fill();

  const uint64_t seed_;
  const uint64_t seed2_;
  uint64_t next_ = 0;
  bool fresh_ = true;  // outputs_ is not that of next_
  PhiloxCounter outputs_ = {};
};

}  // namespace augur
