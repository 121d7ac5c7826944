// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "prefetch/file_states.h"
#include "prefetch/planner_input.h"
#include "prefetch/recent_reads.h"
#include "prefetch/reclaim_evidence.h"

namespace augur {

// ReaderPages decides what becomes of files in the page cache that a reader has asked for. They stay while the reader
// may still copy them, and are left for reuse where the machine has room beside the window. Not synchronized;
// no I/O, no clock.
class ReaderPages {
 public:
  // REQUIRES: both outlive it.
  ReaderPages(const PlannerInput& in, FileStates& files) : in_(in), files_(files) {}

  // What may be left for reuse now.
  uint64_t reusable_bytes_max() const;

  // A read of any file was seen. Before OnAccess.
  void Count();
  // The file was opened, or asked for in vain (`missed`), so that the kernel has its pages now. `here`: the position
  // at which the reader just is, if it is one that Passed will tell; else kNever.
  void OnAccess(Slot slot, bool missed, Position here);
  // The file was asked for in vain for this use. If it was pushed for it, and so were many that are gone, none that is
  // pushed for a later use counts as being there. Before OnAccess.
  void Missed(Slot slot, Position use);
  // The push of a file has failed, but a READ has brought the file in meanwhile.
  void TakeBrought(Slot slot);
  // The reader is done with a use of the file. Then Reclassify.
  void LeaveForReuse(Slot slot);
  // The file was read before the planner knew it, or is being read. It counts as reusable from then on, or when its
  // reader is done with it, until many of such files turn out to be gone. Where nothing is pushed, it is let go from
  // the staging when the READ has its bytes.
  void AssumeCached(Slot slot);
  // A file beyond what may be left for reuse, to be dropped; it is not reusable any more.
  std::optional<Slot> TakeExcess();
  // Whether the kernel's whole page cache was dropped by hand since the last call. Then no file that was left there, or
  // pushed for a later use, is there any more. That is no sign of the kernel's needs.
  void SetEmptied(bool emptied);
  // Next uses are others.
  void ComputeUsesAnew();

 private:
  bool HasRoomFor(uint64_t bytes) const;
  void StillRead(Slot slot);
  void FoundGone(Slot slot);
  void AddAssumed(Slot slot);
  void ForgetAssumed();
  Position PushedAreGone(Position after);

  const PlannerInput& in_;
  FileStates& files_;
  RecentReads recent_;
  ReclaimEvidence evidence_;
  // Uses before this one are read ahead again at most once: a kernel that keeps taking pages would cost without end.
  Position read_again_to_ = 0;
};

}  // namespace augur
