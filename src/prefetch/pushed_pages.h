// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "control/statistics.h"
#include "prefetch/event_queue.h"
#include "prefetch/mount_view.h"
#include "prefetch/page_sink.h"
#include "prefetch/planner.h"
#include "prefetch/push_queue.h"
#include "prefetch/retained_files.h"
#include "prefetch/staged_files.h"
#include "prefetch/view_files.h"

namespace augur {

// PushedPages carries out what the planner of a view decides about the page cache: pushes files into it and drops them.
// The kernel must know a file before its pages can be pushed: it asks the MountView to look up those that are unknown.
// Used by the planning thread only. REQUIRES: what it is given outlives it, and it is not busy when it ends.
class PushedPages {
 public:
  struct Means {
    Statistics& statistics;
    MountView* view;  // nullptr: the mount cannot be seen
    PushQueue& pusher;
    EventQueue& events;
    bool pushes;  // there is a PageSink; else `pusher` has no threads
  };
  // `planner` is shared with answers of the MountView, which may come when this has ended.
  PushedPages(const Means& means, const ViewFiles& files, std::shared_ptr<Planner> planner, StagedFiles& staged,
              RetainedFiles& retained)
      : means_(means), files_(files), planner_(std::move(planner)), staged_(staged), retained_(retained) {}
  PushedPages(const PushedPages&) = delete;
  PushedPages& operator=(const PushedPages&) = delete;

  // Begins what the planner wants done now.
  void StartPushes();
  void StartDrops();
  // Files that TakePushed gave.
  void Drop(const std::vector<EntryNumber>& files);
  // The same past the MountView, for 'augurctl drop'.
  void DropAsked(const std::vector<EntryNumber>& files);

  // Files are being read. Where the kernel did not know some, it is asked for these ahead of their push, once for each
  // order.
  void Coming(const ReadPlan& plan);
  // Another order has come.
  void BeginOrder() { statted_.clear(); }
  void AskStats();

  // The PushQueue has done a push, or a drop.
  void OnPushed(const PushQueue::Push& push, PushOutcome outcome, bool lost);
  void OnDropped(EntryNumber file);
  // Whether opens are seen. Otherwise a pushed file that is dropped has likely been read.
  void SetOpensSeen(bool seen) { opens_seen_ = seen; }

  uint64_t pushes() const { return pushes_; }
  bool busy() const { return pushes_ + drops_ > 0; }

 private:
  void StatAhead(EntryNumber file);

  // Constant after construction.
  const Means means_;
  const ViewFiles& files_;

  const std::shared_ptr<Planner> planner_;
  StagedFiles& staged_;
  RetainedFiles& retained_;
  uint64_t pushes_ = 0;
  uint64_t drops_ = 0;
  bool opens_seen_ = false;
  bool names_unknown_ = false;               // to the kernel, of some files
  std::unordered_set<EntryNumber> statted_;  // ahead of their push, in this order
  std::vector<EntryNumber> to_stat_;         // one for each file of statted_ that is not asked for yet
  std::vector<EntryNumber> unknown_;         // their push was refused for it
};

}  // namespace augur
