// SPDX-License-Identifier: Apache-2.0
#include "fleet/rendezvous.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <numeric>

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

std::vector<size_t> Rendezvous::OwnersOf(const Hash128& key, size_t count) const {
  std::vector<size_t> members(seeds_.size());
  std::iota(members.begin(), members.end(), size_t{0});
  std::ranges::stable_sort(members, std::ranges::greater(), [&](size_t member) { return Weight(key, member); });
  members.resize(std::min(count, members.size()));
  return members;
}

}  // namespace augur
