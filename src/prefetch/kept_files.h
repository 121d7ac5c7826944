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
#include "prefetch/keep_thread.h"
#include "prefetch/kept_blocks.h"
#include "prefetch/planned_files.h"
#include "prefetch/planner.h"
#include "prefetch/prefetcher_options.h"
#include "prefetch/staged_files.h"
#include "prefetch/view_files.h"

namespace augur {

// Bytes that the retained cache may take: its own, and those that the push window lends it.
struct KeptShare {
  uint64_t own_bytes_max = 0;
  uint64_t lent_window_bytes_max = 0;
};
// `kept` may be nullptr. `pushes`: there is a push window.
KeptShare KeptShareNow(const PrefetcherOptions& options, KeptBlocks* kept, bool pushes);

// KeptFiles carries out what the planner of a view decides about the retained cache: copies files into it and evicts
// others. When the retained cache has less room than the planner thinks, it evicts blocks that have no known use. Used
// by the planning thread only. REQUIRES: what it is given outlives it, and it is not busy when it ends.
class KeptFiles {
 public:
  struct Means {
    const PrefetcherOptions& options;
    KeptBlocks* kept;    // nullptr: there is no retained cache
    KeepThread* thread;  // where there is one
    EventQueue& events;
    bool pushes;
  };
  KeptFiles(const Means& means, const ViewFiles& files, const PlannedFiles& planned, Planner& planner,
            StagedFiles& staged)
      : means_(means), files_(files), planned_(planned), planner_(planner), staged_(staged) {}
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  // Whether the retained cache has all of it.
  bool Contains(const ViewFile& file) const { return exists() && means_.kept->Contains(file); }
  // Whether a file of 'augurctl warm' is being copied.
  bool IsCopyingWarm() const;
  // Evicts and copies as the plan says. The planner counts the file as kept from now on; until it is there, its blocks
  // stay at hand. When the thread is behind, the planner is told that the file is not kept.
  void Keep(const ViewFile& file, std::span<const BlockRef> blocks, const KeepPlan& plan);
  // Blocks of a file that is being copied; none: it is not.
  std::vector<BlockRef> BlocksOf(EntryNumber file) const;
  // Evicts ahead of need: files that arrive while the cache is full are not kept.
  void EvictUnknownAhead();
  // A retained cache that could not take a file is tried again after some time.
  void LookForRoom(uint64_t now_us);
  // Does something else on the thread, after all that was asked. REQUIRES: there is a retained cache.
  void Run(std::function<void()> work);

  bool exists() const { return means_.kept != nullptr; }
  bool busy() const { return tasks_ > 0; }
  // Room is being made.
  bool evicting() const { return evicting_unknown_; }

 private:
  KeptShare ShareNow() const { return KeptShareNow(means_.options, means_.kept, means_.pushes); }
  KeepThread::Task Begin(KeepThread::Task task);
  void OnKept(const std::optional<ViewFile>& file, bool kept);
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
