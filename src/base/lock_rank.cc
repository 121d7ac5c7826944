// SPDX-License-Identifier: Apache-2.0
#include "base/lock_rank.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace augur {
namespace {

thread_local HeldRanks held;

}  // namespace

bool HeldRanks::Add(LockRank rank) {
  const auto place = held_.begin() + static_cast<ptrdiff_t>(rank);
  if (std::find(place, held_.end(), true) != held_.end()) return false;
  *place = true;
  return true;
}

void HeldRanks::Remove(LockRank rank) { held_[static_cast<size_t>(rank)] = false; }

void CheckBeforeLock(LockRank rank) {
  if (held.Add(rank)) return;
  std::fprintf(stderr,
               "augurfs: lock order: a mutex of rank %d is locked while one of the same or a higher rank is held\n",
               static_cast<int>(rank));
  std::abort();
}

void NoteUnlocked(LockRank rank) { held.Remove(rank); }

}  // namespace augur
