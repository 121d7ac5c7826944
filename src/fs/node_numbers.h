// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fs/lasting_numbers.h"
#include "fs/tree_changes.h"

namespace augur {

// NodeNumbers tells which number (Node::entry) an entry of the store has at the kernel, and which entry a number means.
// In the first generation that a mount shows they are the same. In a later one an entry that was there before keeps its
// number, and any other gets one that no entry has had. So a number means the same bytes as long as the mount lasts.
// The number of an entry that was replaced or removed means that of the earlier generation. The root is always 0.
//
// Constant after construction. It takes 64 bytes for each run.
class NodeNumbers {
 public:
  // Of the first generation.
  NodeNumbers() = default;
  explicit NodeNumbers(std::span<const NumberRun> runs);

  // REQUIRES: an entry of the generation that is shown.
  uint64_t NumberOf(uint64_t entry) const;
  // Of an entry of an earlier generation, 1 for the one before. Nothing: the next one has it still, or no program can
  // have it in use any more.
  std::optional<uint64_t> NumberOfEarlier(uint64_t generation, uint64_t entry) const;
  struct Place {
    uint64_t generation = 0;  // 0: the one that is shown
    uint64_t entry = 0;
  };
  // Nothing: no entry has this number, or no program can have it in use any more.
  std::optional<Place> Find(uint64_t number) const;

  // The runs of the next generation, of which the one that is shown is then generation 1, and any earlier one 1 more
  // than before. `entries`: how many this generation has, `next_entries`: the next one; `kept`: what the two have in
  // common. `next_number` goes on behind those that are given.
  std::vector<NumberRun> RunsOfNext(uint64_t entries, uint64_t next_entries, std::vector<KeptRun> kept,
                                    uint64_t* next_number) const;
  // Keeps of the runs of earlier generations the numbers for which `is_used` says so.
  static std::vector<NumberRun> WithoutUnused(
      std::span<const NumberRun> runs, const std::function<bool(const NumberRun& run, uint64_t number)>& is_used);

 private:
  const NumberRun* RunOf(uint64_t generation, uint64_t entry) const;
  // Hands out the runs of [entry, entry + count) of the generation that is shown.
  void SplitByNumber(uint64_t entry, uint64_t count,
                     const std::function<void(uint64_t number, uint64_t count)>& take) const;

  // All runs; empty: each entry is its number.
  std::vector<NumberRun> by_entry_;  // by generation first
  std::vector<NumberRun> by_number_;
};

}  // namespace augur
