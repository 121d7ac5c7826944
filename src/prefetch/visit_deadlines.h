// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "prefetch/disk_regions.h"
#include "prefetch/read_mode.h"
#include "prefetch/read_schedule.h"

namespace augur {

// VisitDeadlines protects the files that a visit to a region of the disk brought into the retained cache until the next
// visit to it should be made. Later uses can be brought by that visit. Where files are read one by one it protects
// none. Not synchronized. A method with a slot requires that Resize has seen it.
class VisitDeadlines {
 public:
  // REQUIRES: both outlive it.
  VisitDeadlines(const ReadMode& mode, const DiskRegions& regions) : mode_(mode), regions_(regions) {}
  void Resize(size_t files) { deadlines_.resize(files); }

  // The next visit to the region should be made after this use.
  void Set(std::span<const Slot> region, Position end);
  // This visit is to bring the use; a later one is not.
  bool Covers(Slot slot, Position use) const { return use <= deadlines_[slot]; }
  // The order of eviction, the largest first: by next use, but files without protection before all others.
  Position Key(Slot slot, Position use) const;
  // The file was evicted by this key. A protected one was the last of its region: the region will be visited for it, so
  // no file of the region is protected beyond it.
  void Shorten(Slot evicted, Position key);

 private:
  // Added to the next use of files without protection.
  static constexpr Position kUnprotected = Position{1} << 40;

  const ReadMode& mode_;
  const DiskRegions& regions_;
  std::vector<Position> deadlines_;  // by slot
};

}  // namespace augur
