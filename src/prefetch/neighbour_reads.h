// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_set>
#include <vector>

#include "datasets/epoch_order.h"

namespace augur {

// NeighbourReads keeps the last files that were read, by any reader, and tells which epoch they follow, if any. A
// reader of an epoch reads neighbours of it: files that follow each other in its order, also when workers take turns.
// Files in another order are neighbours by chance only. So it can tell epochs apart even if they are shorter than the
// distance between a loader's workers. Not synchronized.
class NeighbourReads {
 public:
  // The file was read; `order`: of the epoch in which the reader is thought to be. A file that is among the last
  // already does not count again. Returns true when it is time to look for the reader (FindIn).
  bool Add(EntryNumber file, const EpochOrder& order);
  // The reader is elsewhere now: forgets the files that were read before. The counts for lost() stay.
  void Forget();
  void Clear();

  // Where in this order the last files were read from: their places that are neighbours of each other, sorted; empty:
  // there are no more of them than chance may give.
  std::vector<uint32_t> FindIn(const EpochOrder& order) const;
  // No reader follows the epoch that the files were added with: among the last 2,048 reads there were no more
  // neighbours of that epoch than chance may give.
  bool lost() const { return lost_; }

 private:
  void Count(EntryNumber file, const EpochOrder& order);

  std::deque<EntryNumber> files_;          // kKnownMax at most: the oldest go
  std::unordered_set<EntryNumber> known_;  // the same
  uint64_t reads_ = 0;                     // since lost_ was found out
  double neighbours_ = 0;                  // of those
  double by_chance_ = 0;                   // would be
  bool lost_ = false;
};

}  // namespace augur
