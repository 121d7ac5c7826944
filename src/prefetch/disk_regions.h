// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "prefetch/disk_model.h"
#include "prefetch/read_schedule.h"

namespace augur {

// DiskRegions cuts the disk into pieces of one size, near the length of a gap that costs nothing and changed by
// doubling, always at the same places. A window that began at whatever file is wanted would overlap with its
// neighbours', and a third of it would be there already. A file lies in the region in which it begins. Not
// synchronized; no I/O, no clock.
class DiskRegions {
 public:
  // No region is longer than `bytes_max`, where that is kBytesMin or more.
  DiskRegions(const ReadSchedule& schedule, uint64_t bytes_max) : schedule_(schedule), bytes_max_(bytes_max) {}

  // A visit to a region is about to be made: counts it, and may change the size. Files that were brought for regions of
  // one size are worth less for another size, so it is changed only after many visits at which another seemed right.
  void BeginVisit(const DiskModel& disk);
  // This visit should take the next regions along: long reads show whether bytes bind, which nothing else does on a
  // disk where reads bind for all that is read.
  bool Probes() const;
  // Enough visits were made since the regions have this size to know what they cost.
  bool settled() const { return visits_ >= kVisitsToSettle; }
  // There have ever been regions.
  bool used() const { return bytes_ > 0; }
  uint64_t bytes() const { return bytes_; }  // of a region
  // That have files.
  uint32_t count() const { return count_; }

  // REQUIRES of both: used().
  bool Same(Slot one, Slot other) const;
  // The files of the region, by address.
  std::span<const Slot> Around(Slot slot) const;

 private:
  // A visit reads from the first file that is wanted to the last: 0.9 of its region. So a region is an eighth longer
  // than a power of two, whose nearest is a read that takes as long by its bytes as by being one. That is 1 MB on a
  // disk of 150 reads and 150 MB a second, the first size. The least, 295 KB, has two files of 110 KB; half of it has
  // one.
  static constexpr uint64_t kBytesMin = 9 << 15;
  static constexpr uint64_t kBytesFirst = 9 << 17;
  // Of every kProbeEvery visits those from kProbeFrom on, soon after the size has changed. A probe brings three regions
  // (kProbeRegions): 32 of 2,000 visits are 3 % more bytes. 16 visits of 8 ms are 130 ms, about as long as visits of
  // the old size may still be under way. 32 probes of 23 ms (3.5 MB at 150 MB/s) fill a window of 0.4 s.
  static constexpr uint32_t kProbeEvery = 2000;
  static constexpr uint32_t kProbeFrom = 16;
  static constexpr uint32_t kProbes = 32;
  static constexpr uint32_t kVisitsToSettle = 4 * (kProbeFrom + kProbes);
  // ... and as many windows of the disk's model were learned from. LimitFit goes 0.4 of the way in each, so that 5 % of
  // its error are left; after three, 22 %.
  static constexpr int kWindowsToSettle = 6;
  // Another size seems right when the free gap is over kGrow times a region's length, or a region over kShrink times
  // the gap's. Too short costs more than too long: half of the right size 0.45 of the bandwidth, twice of it 0.25.
  static constexpr double kGrow = 2;
  static constexpr double kShrink = 2.8;

  void Count();

  const ReadSchedule& schedule_;
  const uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  uint32_t visits_ = 0;     // since they have this size
  int windows_ = 0;         // of the disk's model, when they got it
  uint32_t other_gap_ = 0;  // visits in turn at which another size seemed right
  uint32_t count_ = 0;
  uint32_t count_of_ = 0;  // files, when they were counted
};

}  // namespace augur
