// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "prefetch/burst_counter.h"
#include "prefetch/file_states.h"
#include "prefetch/page_cache_window.h"
#include "prefetch/page_sink.h"
#include "prefetch/planner_input.h"
#include "prefetch/plans.h"
#include "prefetch/reader_pages.h"
#include "prefetch/retention_planner.h"

namespace augur {

// PageCachePlanner decides which files to push into the page cache, and which to drop from it. The cache holds the next
// files, and those that were read as long as there is room. Not synchronized; no I/O, no clock.
class PageCachePlanner {
 public:
  // REQUIRES: all outlive it.
  PageCachePlanner(PlannerInput& in, FileStates& files, ReaderPages& reader_pages, const PageCacheWindow& window,
                   RetentionPlanner& retention)
      : in_(in), files_(files), reader_pages_(reader_pages), window_(window), retention_(retention) {}

  // See Planner for all of these.
  std::optional<PushPlan> NextPush();
  RetainPlan Pushed(Slot slot, PushOutcome outcome);
  void PushLost(Slot slot);
  void Statted(Slot slot, StatPhase phase);
  std::optional<EntryNumber> NextDrop();
  void Dropped(Slot slot);
  std::vector<EntryNumber> TakeAll();
  // A file behind the reader was asked for, and was not there. Many of them: the reader is not done with files so soon,
  // and they are dropped later from now on.
  void ReadAfterDrop();

 private:
  std::pair<Position, Slot> FirstToPush() const;
  RetainPlan Refused(Slot slot, PushOutcome outcome, bool brought);
  std::optional<std::pair<Position, Slot>> LastNeeded() const;
  std::optional<Slot> TakeOneToDrop();
  void Drop(Slot slot);

  PlannerInput& in_;
  FileStates& files_;
  ReaderPages& reader_pages_;
  const PageCacheWindow& window_;
  RetentionPlanner& retention_;
  BurstCounter reads_after_drop_{16, 1024};  // by the reader's front
};

}  // namespace augur
