// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>
#include <utility>
#include <vector>

#include "prefetch/read_schedule.h"

namespace augur {

// NeighbourReads keeps the last files that were read, by any reader, and tells which epoch they follow, if any. A
// reader of an epoch reads neighbours of it: files that follow each other in its order, also when workers take turns.
// Files in another order are neighbours by chance only. So it can tell epochs apart even if they are shorter than the
// distance between a loader's workers. Not synchronized.
class NeighbourReads {
 public:
  // The file was read; `epoch`: where in the schedule the reader is thought to be, [begin, end). One that is among the
  // last already does not count again. Returns true when it is time to look for the reader (FindIn).
  bool Add(const ReadSchedule& schedule, Slot slot, std::pair<Position, Position> epoch);
  // The reader is elsewhere now: forgets the files that were read before. The counts for lost() stay.
  void Forget();
  void Clear();

  // Where in the epoch with this index the last files were read from: their positions there that are neighbours of each
  // other, sorted; empty: there are no more of them than chance may give.
  std::vector<Position> FindIn(const ReadSchedule& schedule, size_t epoch) const;
  // No reader follows the epoch that the files were added with: among the last 2,048 reads there were no more
  // neighbours of that epoch than chance may give.
  bool lost() const { return lost_; }

 private:
  void Count(const ReadSchedule& schedule, Slot slot, std::pair<Position, Position> epoch);

  std::deque<Slot> slots_;
  std::unordered_set<Slot> known_;  // the same
  uint64_t reads_ = 0;              // since lost_ was found out
  double neighbours_ = 0;           // of those
  double by_chance_ = 0;            // would be
  bool lost_ = false;
};

}  // namespace augur
