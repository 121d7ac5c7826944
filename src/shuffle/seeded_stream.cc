// SPDX-License-Identifier: Apache-2.0
#include "shuffle/seeded_stream.h"

namespace augur {

SeededStream::SeededStream(uint32_t seed) : seed_(seed), engine_(seed) {}

Mt19937 SeededStream::At(uint64_t position) const {
  const MutexLock lock(mu_);
  if (position < position_) {
    engine_ = Mt19937(seed_);
    position_ = 0;
  }
  engine_.Discard(position - position_);
  position_ = position;
  return engine_;
}

}  // namespace augur
