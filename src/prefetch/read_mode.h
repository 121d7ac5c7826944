// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "prefetch/disk_model.h"
#include "prefetch/disk_regions.h"

namespace augur {

// ReadMode chooses between the two ways of reading: files in the order of their use (bandwidth-bound), or regions of
// the disk, the unwanted files in them included (seek-bound). Not synchronized; no I/O, no clock. Both parts must
// outlive it.
class ReadMode {
 public:
  // REQUIRES: both outlive it.
  ReadMode(const DiskModel& disk, const DiskRegions& regions)
      : disk_(disk),
        regions_(regions),
        // The first window decides where the disk is known from before.
        windows_in_turn_(disk.known() ? kWindowsInTurn - 1 : 0) {}

  bool in_regions() const { return in_regions_; }
  // To be called when a read has ended. `file_bytes`: of the mean file. True: the mode has changed.
  bool Choose(uint64_t file_bytes);

 private:
  // This number of windows of the disk's model in turn must say that the other mode is better. A single window may say
  // as much of programs that start, or of others who use the disk.
  static constexpr int kWindowsInTurn = 3;

  bool RegionsMayBeWorthIt(uint64_t file_bytes) const;
  bool RegionsAreNotWorthIt(uint64_t file_bytes) const;

  const DiskModel& disk_;
  const DiskRegions& regions_;
  bool in_regions_ = false;
  int windows_seen_ = 0;  // of the disk's model
  int windows_in_turn_;   // that spoke for the other mode
  int mode_windows_ = 0;  // windows_seen_ when the mode was changed
  // After this number of further windows regions may be tried again; doubled each time.
  int windows_to_try_ = 32;
};

}  // namespace augur
