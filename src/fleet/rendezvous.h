// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "augur/entry.h"

namespace augur {

// Rendezvous hashing: each machine finds by itself which member of a list a key belongs to, and all find the same one.
// A member that leaves or comes changes the place of its own share of the keys only. Source: D. Thaler, C.
// Ravishankar, "Using name-based mappings to increase hit rates" (IEEE/ACM Transactions on Networking, 1998).
class Rendezvous {
 public:
  // A name of a member, as all machines write it.
  void Add(std::string_view name);
  size_t size() const { return seeds_.size(); }
  // The number of the member that the key belongs to, in the order of Add. REQUIRES: size() > 0.
  size_t OwnerOf(const Hash128& key) const;
  // How many members come before this one: it is the owner where none of them is there. REQUIRES: member < size().
  size_t RankOf(const Hash128& key, size_t member) const;

 private:
  uint64_t Weight(const Hash128& key, size_t member) const;

  std::vector<uint64_t> seeds_;
};

}  // namespace augur
