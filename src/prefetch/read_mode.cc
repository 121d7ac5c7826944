// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_mode.h"

#include <algorithm>

namespace augur {

bool ReadMode::Choose(uint64_t file_bytes) {
  if (!disk_.known() || disk_.windows() == windows_seen_) return false;
  windows_seen_ = disk_.windows();
  // Between the two bounds the mode stays.
  const bool otherwise = in_regions_ ? RegionsAreNotWorthIt(file_bytes) : RegionsMayBeWorthIt(file_bytes);
  windows_in_turn_ = otherwise ? windows_in_turn_ + 1 : 0;
  if (windows_in_turn_ < kWindowsInTurn) return false;
  if (!in_regions_ && regions_.used()) windows_to_try_ *= 2;
  in_regions_ = !in_regions_;
  mode_windows_ = disk_.windows();
  windows_in_turn_ = 0;
  return true;
}

// As long as all reads are of about one size, the model cannot tell the cost of reads from that of bytes: its cost of
// longer reads is a guess. So where single files take long, and may cost the same when they are ten times as long,
// regions are tried whatever it says. But where they were tried, and brought no more than single files do, they are not
// tried again for a while.
bool ReadMode::RegionsMayBeWorthIt(uint64_t file_bytes) const {
  const bool tried = regions_.used() && disk_.windows() < mode_windows_ + windows_to_try_;
  if (tried) return std::min(disk_.worth_gap_bytes(), disk_.tried_gap_bytes()) > 3 * file_bytes;
  return disk_.worth_gap_bytes() > 3 * file_bytes ||
         disk_.CostUs(1, file_bytes) >= static_cast<double>(DiskModel::kSlowReadUs);
}

// A region takes as much longer than a file as it is longer: that is seen at once. The gap of the believed opinion is
// not enough while regions are new.
bool ReadMode::RegionsAreNotWorthIt(uint64_t file_bytes) const {
  if (2 * disk_.tried_gap_bytes() < 3 * file_bytes) return true;
  return regions_.settled() && 2 * disk_.worth_gap_bytes() < 3 * file_bytes;
}

}  // namespace augur
