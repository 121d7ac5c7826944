// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "prefetch/burst_counter.h"

namespace augur {

// ReclaimEvidence judges by READs of files that were taken for being in the page cache whether the kernel keeps such
// files. The kernel may have other uses for the memory, or give it back to a host (DAMON). Not synchronized; no clock.
class ReclaimEvidence {
 public:
  // The page cache had lost a reusable file. One of many is the kernel's right; a burst of them is not.
  // `place`: of the reader; `reads`: all that were seen; `files`: that the planner knows.
  void ReusableIsGone(uint64_t place, uint64_t reads, uint64_t files) {
    if (gone_.Count(place)) reuse_from_ = reads + kReadsWithoutReuse * files;
  }
  // True while the kernel takes reusable files: no more should be left.
  bool Reclaims(uint64_t reads) const { return reads < reuse_from_; }

  // The page cache was emptied by hand. The files that it has lost of late, since the last call of Confirm, say nothing
  // of the kernel.
  void Emptied() {
    gone_.Clear();
    reuse_from_ = confirmed_reuse_from_;
    assumed_there_ = assumed_gone_ = 0;
  }
  // It was not emptied by hand: the files that it has lost until now count.
  void Confirm() { confirmed_reuse_from_ = reuse_from_; }

  // The page cache had lost a file that was pushed for the read at this place. True: so it did with every other one of
  // late, and none that was pushed is to be counted on.
  bool PushedIsGone(uint64_t place) { return pushed_gone_.Count(place); }

  // The reader was done with a file that was only assumed to be there, and it was.
  void AssumedIsThere() { ++assumed_there_; }
  // Such a file was gone. True: half of them are, so none should be assumed any more; the count begins anew.
  bool AssumedIsGone() {
    if (++assumed_gone_ < kAssumedGoneMax || assumed_gone_ <= assumed_there_) return false;
    assumed_there_ = assumed_gone_ = 0;
    return true;
  }

 private:
  // One read in sixteen, of 1,024 reads (ABurstOfLostFilesCountsForFourEpochs).
  static constexpr uint64_t kGoneMax = 64;
  static constexpr uint64_t kGonePlaces = 1024;
  // After a burst nothing is left for reuse for this number of reads, for each file that the planner knows.
  static constexpr uint64_t kReadsWithoutReuse = 4;
  static constexpr uint64_t kAssumedGoneMax = 16;

  // Half of them: then to read again the files that are still there costs no more than to read those that are gone. Of
  // a kernel that takes one file in ten, 16 of 32 are gone once in 80 million times; 8 of 16 would be once in 16,000.
  static constexpr uint64_t kPushedGoneMax = 16;
  static constexpr uint64_t kPushedGonePlaces = 32;

  BurstCounter gone_{kGoneMax, kGonePlaces};
  BurstCounter pushed_gone_{kPushedGoneMax, kPushedGonePlaces};
  uint64_t reuse_from_ = 0;  // reads seen
  uint64_t confirmed_reuse_from_ = 0;
  uint64_t assumed_there_ = 0;
  uint64_t assumed_gone_ = 0;
};

}  // namespace augur
