// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "prefetch/page_cache_files.h"
#include "prefetch/planner_input.h"
#include "prefetch/staging.h"
#include "prefetch/use_queue.h"
#include "prefetch/visit_deadlines.h"

namespace augur {

// Why a READ of a file that was predicted was not served by the page cache.
enum class MissCause {
  kNone,       // no READ, or the file was not predicted
  kSentinel,   // it was left out of the page cache on purpose
  kReclaimed,  // the page cache should have it: the kernel has taken its pages for something else
  kNotPushed,  // it is in memory, and its push has not been made, or has been refused
  kTooLong,    // it is too long to be read ahead
  kUnderWay,   // it is just being read ahead
  kNotBegun,   // it is still to be read, or could not be
};

// FileStates knows where the bytes of each file are, in several places at a time: in the staging, the page cache and
// the retained cache. From that and the order follow the files that could be pushed, the eviction order of the retained
// cache, and the next file to read. Reclassify puts a file right in these after a change. Not synchronized; no I/O.
class FileStates {
 public:
  // Memory in the tables, beside the queued orders: for each file that was met, about, and for each reusable file.
  // The first is a record of 48 bytes and 25 in other vectors, which have half as much room again while they double,
  // and 40 in a hash map: 150. The second is 56 in a hash map (a node of 48, a bucket of 8) and a node of 64 in a set.
  static constexpr uint64_t kBytesPerFile = 160;
  static constexpr uint64_t kBytesPerReusable = 120;
  // In ready(), the key of a file that has no predicted use and is held only to be pushed: it goes before kept ones.
  static constexpr Position kHeldNever = kNever - 1;

  explicit FileStates(const PlannerInput& in)
      : in_(in), staging_(in.schedule), pages_(in), deadlines_(in.mode, in.regions) {}
  FileStates(const FileStates&) = delete;  // its parts refer to the input
  FileStates& operator=(const FileStates&) = delete;
  // The schedule knows more files.
  void Meet();
  uint64_t TableBytes() const;

  // A caller that changes one of these for a file calls Reclassify for it.
  Staging& staging() { return staging_; }
  const Staging& staging() const { return staging_; }
  PageCacheFiles& pages() { return pages_; }
  const PageCacheFiles& pages() const { return pages_; }
  // The retained cache's files, by eviction order.
  UseQueue& retained() { return retained_; }
  const UseQueue& retained() const { return retained_; }
  VisitDeadlines& deadlines() { return deadlines_; }
  const VisitDeadlines& deadlines() const { return deadlines_; }

  // Files that could be pushed, by next use.
  const UseQueue& ready() const { return ready_; }
  // The bytes are somewhere, or being read.
  bool IsResident(Slot slot) const;
  // Of a READ of the file that was predicted at this position. `first`: no READ of this use was seen before.
  MissCause CauseOf(Slot slot, Position position, bool first) const;
  // The first use from the front on whose file has to be read; kNever when there is none.
  Position NextMissing();
  // Where NextMissing looks from: the order or the reader is another one.
  void LookFrom(Position position) { missing_from_ = position; }

  // Something about the file has changed: puts it right in ready(), retained() and NextMissing.
  void Reclassify(Slot slot);
  // Lets a file go from the staging; nothing when it is not held.
  void Release(Slot slot);
  // Next uses are others. REQUIRES: those in pages() are computed anew.
  void ComputeUsesAnew();

 private:
  Position ReadyKey(Slot slot, Position use) const;
  Position RetainedKey(Slot slot, Position use, Position served) const;

  const PlannerInput& in_;
  Staging staging_;
  PageCacheFiles pages_;
  UseQueue retained_;
  VisitDeadlines deadlines_;
  UseQueue ready_;
  Position missing_from_ = 0;  // everything from the front to here is resident, or not to be read
};

}  // namespace augur
