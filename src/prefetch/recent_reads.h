// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "prefetch/read_schedule.h"

namespace augur {

// RecentReads remembers files that were asked for outside of any order, until enough other reads were seen that their
// readers have copied them. Only an order tells when a reader is done. Not synchronized; no clock.
class RecentReads {
 public:
  // A read was seen, of any file.
  void Count() { ++seen_; }
  uint64_t seen() const { return seen_; }

  // The file is being read. A file may be added more than once.
  void Add(Slot slot) {
    ++times_[slot];
    reads_.emplace_back(slot, seen_);
  }
  bool Contains(Slot slot) const { return times_.contains(slot); }
  // The files whose last Add is more than `lag` reads ago, each once.
  std::vector<Slot> TakeDone(uint64_t lag) {
    std::vector<Slot> done;
    while (!reads_.empty() && reads_.front().second + lag < seen_) {
      const auto at = times_.find(reads_.front().first);
      reads_.pop_front();
      if (--at->second > 0) continue;
      done.push_back(at->first);
      times_.erase(at);
    }
    return done;
  }

 private:
  uint64_t seen_ = 0;
  // Of the last `lag` reads, as TakeDone has it, and how many reads were seen before each. All files that were read
  // before they were known come at once.
  std::deque<std::pair<Slot, uint64_t>> reads_;
  std::unordered_map<Slot, uint32_t> times_;  // in reads_
};

}  // namespace augur
