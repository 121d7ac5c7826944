// SPDX-License-Identifier: Apache-2.0
#include "fleet/rendezvous.h"

#include <xxhash.h>

#include <array>

#include "base/check.h"

namespace augur {

void Rendezvous::Add(std::string_view name) { seeds_.push_back(XXH3_64bits(name.data(), name.size())); }

uint64_t Rendezvous::Weight(const Hash128& key, size_t member) const {
  const std::array<uint64_t, 2> words = {key.low, key.high};
  return XXH3_64bits_withSeed(words.data(), sizeof(words), seeds_[member]);
}

size_t Rendezvous::OwnerOf(const Hash128& key) const {
  AUGUR_CHECK(!seeds_.empty());
  size_t best = 0;
  uint64_t most = Weight(key, 0);
  for (size_t member = 1; member < seeds_.size(); ++member) {
    const uint64_t weight = Weight(key, member);
    if (weight > most) {
      most = weight;
      best = member;
    }
  }
  return best;
}

// Among equals the first is the owner, as for OwnerOf.
size_t Rendezvous::RankOf(const Hash128& key, size_t member) const {
  AUGUR_CHECK(member < seeds_.size());
  const uint64_t own = Weight(key, member);
  size_t before = 0;
  for (size_t other = 0; other < seeds_.size(); ++other) {
    const uint64_t weight = Weight(key, other);
    if (weight > own || (weight == own && other < member)) ++before;
  }
  return before;
}

}  // namespace augur
