// SPDX-License-Identifier: Apache-2.0
#include "samplers/philox.h"

namespace augur {

PhiloxCounter Philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{counter[0]} * 0xd2511f53U;
    const uint64_t b = uint64_t{counter[2]} * 0xcd9e8d57U;
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9e3779b9U;
    key[1] += 0xbb67ae85U;
  }
  return counter;
}

void TfPhilox::Fill() {
  const uint64_t block = (next_ - 1) / 4;
  outputs_ = Philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                         static_cast<uint32_t>(seed2_), static_cast<uint32_t>(seed2_ >> 32)},
                        {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
  fresh_ = false;
}

}  // namespace augur
