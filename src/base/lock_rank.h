// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace augur {

// The order in which one thread may lock mutexes: each has a higher rank than all that the thread holds. Two of one
// rank are never held together. THREADS.md names the mutexes of each rank.
enum class LockRank : uint8_t {
  kOuter,
  kMiddle,
  kLeaf,  // nothing is locked while it is held: nearly all mutexes
};

// HeldRanks are the ranks of the mutexes that one thread holds. Not safe for several threads.
class HeldRanks {
 public:
  // Before a lock. False: the order forbids it.
  [[nodiscard]] bool Add(LockRank rank);
  // After an unlock of a rank that is held. Mutexes may be unlocked in any order.
  void Remove(LockRank rank);

 private:
  std::array<bool, static_cast<size_t>(LockRank::kLeaf) + 1> held_ = {};
};

// For the calling thread. The process ends with a message if the order forbids the lock. Called by Mutex in the builds
// that check: Debug and those of the sanitizers (AUGUR_CHECK_LOCK_RANKS).
void CheckBeforeLock(LockRank rank);
void NoteUnlocked(LockRank rank);

}  // namespace augur
