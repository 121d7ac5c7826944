// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "augur/digest.h"
#include "augur/entry.h"

namespace augur {

// Entries that follow one another, and so do their numbers at the kernel.
struct NumberRun {
  uint64_t number;
  uint64_t entry;
  uint64_t count;
  uint64_t generation;  // whose entries: 0 is the one that is shown, others are earlier ones
  bool operator==(const NumberRun&) const = default;
};

// LastingNumbers is what a mount writes down of the generations that it shows: which number an entry has at the kernel
// (NodeNumbers), for the daemon that takes over. All zero at first. One daemon at a time writes it: the set that is not
// current, then which one is. So one that is killed in the middle of that leaves the numbers as they were.
struct LastingNumbers {
  // A run for each piece of the tree that was the same before: with as many, a daemon takes 32 MiB for them.
  static constexpr size_t kRunsMax = size_t{1} << 19;
  // Generations of which a file may be open, beside the one that is shown. Each takes a descriptor, and memory for its
  // index.
  static constexpr size_t kEarlierMax = 16;

  struct Generation {
    uint64_t number;
    uint64_t sequence;  // how many the mount has shown before it
    Hash128 index_id;
    Digest root_hash;  // zero: the store has none
  };
  struct Set {
    uint64_t generation_count;                            // 0: this set was never written
    std::array<Generation, 1 + kEarlierMax> generations;  // the one that is shown, then from the newest to the oldest
    uint64_t next_number;                                 // no entry has had it yet
    uint64_t old_names;  // of how many, from generations[1] on, the kernel may still have names and listings
    uint64_t run_count;  // 0: the number of an entry is the entry
    std::array<NumberRun, kRunsMax> runs;
  };

  uint64_t current;
  std::array<Set, 2> sets;

  const Set& Current() const { return sets[Load(current)]; }
  bool NamesAreOld() const { return Load(Current().old_names) != 0; }
  // The set to be written next. REQUIRES: this process alone writes.
  Set& Other() { return sets[1 - current]; }
  // From now on that one is current.
  void Turn() { std::atomic_ref(current).store(1 - current, std::memory_order_release); }
  // The kernel has no old name any more.
  void NamesAreNew() { std::atomic_ref(sets[current].old_names).store(0, std::memory_order_release); }

 private:
  static uint64_t Load(const uint64_t& value) {
    return std::atomic_ref(const_cast<uint64_t&>(value)).load(std::memory_order_acquire);
  }
};

}  // namespace augur
