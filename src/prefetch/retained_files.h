// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "cache/record_cache.h"
#include "prefetch/event_queue.h"
#include "prefetch/planned_files.h"
#include "prefetch/planner.h"
#include "prefetch/prefetcher_options.h"
#include "prefetch/retain_thread.h"
#include "prefetch/retained_blocks.h"
#include "prefetch/staged_files.h"
#include "prefetch/view_files.h"

namespace augur {

// Bytes that the retained cache may take: its own, and those that the push window lends it.
struct RetainedShare {
  uint64_t own_bytes_max = 0;
  uint64_t lent_window_bytes_max = 0;
};
// `retained` may be nullptr. `pushes`: there is a push window.
RetainedShare RetainedShareNow(const PrefetcherOptions& options, RetainedBlocks* retained, bool pushes);

// RetainedFiles carries out what the planner of a view decides about the retained cache: copies files into it and
// evicts others. When the retained cache has less room than the planner thinks, it evicts blocks that have no known
// use. Used by the planning thread only. REQUIRES: what it is given outlives it, and it is not busy when it ends.
class RetainedFiles {
 public:
  struct Means {
    const PrefetcherOptions& options;
    RetainedBlocks* retained;  // nullptr: there is no retained cache
    RetainThread* thread;      // where there is one
    EventQueue& events;
    bool pushes;
  };
  RetainedFiles(const Means& means, const ViewFiles& files, const PlannedFiles& planned, Planner& planner,
                StagedFiles& staged)
      : means_(means), files_(files), planned_(planned), planner_(planner), staged_(staged) {}
  RetainedFiles(const RetainedFiles&) = delete;
  RetainedFiles& operator=(const RetainedFiles&) = delete;

  // Whether the retained cache has all of it.
  bool Contains(const ViewFile& file) const { return exists() && means_.retained->Contains(file); }
  // Whether a file of 'augurctl warm' is being copied.
  bool IsCopyingWarm() const;
  // Evicts and copies as the plan says. The planner counts the file as kept from now on; until it is there, its blocks
  // stay at hand. When the thread is behind, the planner is told that the file is not kept.
  void Retain(const ViewFile& file, std::span<const BlockRef> blocks, const RetainPlan& plan);
  // Blocks of a file that is being copied; none: it is not.
  std::vector<BlockRef> BlocksOf(EntryNumber file) const;
  // Evicts ahead of need: files that arrive while the cache is full are not kept.
  void EvictUnknownAhead();
  // A retained cache that could not take a file is tried again after some time.
  void LookForRoom(uint64_t now_us);
  // Does something else on the thread, after all that was asked. REQUIRES: there is a retained cache.
  void Run(std::function<void()> work);

  bool exists() const { return means_.retained != nullptr; }
  bool busy() const { return tasks_ > 0; }
  // Room is being made.
  bool evicting() const { return evicting_unknown_; }

 private:
  RetainedShare ShareNow() const { return RetainedShareNow(means_.options, means_.retained, means_.pushes); }
  RetainThread::Task Begin(RetainThread::Task task);
  void OnRetained(const std::optional<ViewFile>& file, bool retained);
  void TakeAll();
  void EvictUnknown(uint64_t bytes);
  uint64_t EvictBeside(std::span<const std::shared_ptr<const Order>> known_files, uint64_t bytes) const;
  void OnUnknownEvicted(uint64_t freed_bytes);

  // Constant after construction.
  const Means means_;
  const ViewFiles& files_;

  const PlannedFiles& planned_;
  Planner& planner_;
  StagedFiles& staged_;
  std::unordered_map<EntryNumber, std::vector<BlockRef>> copying_;  // not yet in the retained cache
  uint64_t copying_bytes_ = 0;
  uint64_t tasks_ = 0;           // of the thread
  uint64_t short_since_us_ = 0;  // the retained cache had no room; 0: it has
  uint64_t all_known_us_ = 0;    // what it has was found to be known, or another's
  bool evicting_unknown_ = false;
};

}  // namespace augur
