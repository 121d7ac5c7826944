// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "augur/store.h"
#include "cache/buffer_pool.h"
#include "cache/record_cache.h"
#include "control/statistics.h"
#include "prefetch/event_queue.h"
#include "prefetch/mount_view.h"
#include "prefetch/page_sink.h"
#include "prefetch/planned_files.h"
#include "prefetch/planner.h"
#include "prefetch/prefetch_status.h"
#include "prefetch/prefetcher_options.h"
#include "prefetch/push_queue.h"
#include "prefetch/pushed_pages.h"
#include "prefetch/read_pipeline.h"
#include "prefetch/retain_thread.h"
#include "prefetch/retained_blocks.h"
#include "prefetch/retained_files.h"
#include "prefetch/staged_files.h"
#include "prefetch/unplanned_pages.h"
#include "prefetch/view_files.h"
#include "prefetch/view_source.h"
#include "prefetch/warming.h"
#include "prefetch/watched_folders.h"
#include "store/shard_source.h"

namespace augur {

// The ways to a served mount. Each may be nullptr: there is no such way.
struct PrefetchMount {
  PageSink* sink = nullptr;
  MountView* view = nullptr;
  ViewSource* views = nullptr;
};

// ViewPrefetch is the prefetch of one view of the mount, from the first order on: the planner, and what carries out its
// decisions. It ends when another view is followed, or when the planner's tables are full. Used by the planning thread
// only. REQUIRES: what it is given outlives it, and it is not busy when it ends.
class ViewPrefetch {
 public:
  // Shared by all views, one after the other.
  struct Means {
    const Store& store;
    ShardSource& shards;
    RecordCache& cache;
    Statistics& statistics;
    const PrefetcherOptions& options;
    const PrefetchMount& mount;
    BufferPool& memory;           // for files that are read ahead
    RetainedBlocks* retained;     // nullptr: there is no retained cache
    RetainThread* retain_thread;  // where there is one
    PushQueue& pusher;
    DiskModel& disk;
    EventQueue& events;
    WatchedFolders& folders;
    UnplannedPages& unplanned;
    PrefetchStatus& status;
  };

  // Memory in the planner's tables for a store of `files` files, all of them left in the page cache, and eight epochs.
  static constexpr uint64_t OrderBytes(uint64_t files) {
    return files * (Planner::kBytesPerFile + Planner::kBytesPerReusable + 8 * EpochOrder::kBytesPerRead);
  }

  ViewPrefetch(const Means& means, ViewFiles& files);
  ViewPrefetch(const ViewPrefetch&) = delete;
  ViewPrefetch& operator=(const ViewPrefetch&) = delete;

  // Queues an epoch behind those of the same source. Those of another source are forgotten.
  void Append(const SharedOrder& order, OrderSource source);
  // What comes is as unknown as before the first order.
  void ForgetOrders();
  // All files of the store are to be brought.
  void Fill(std::shared_ptr<const Order> files);
  void EndFill() { planned_.filling = false; }

  OrderSource source() const { return planned_.source; }
  bool filling() const { return planned_.filling; }
  // Whether all files of the orders were read.
  bool AtEnd() const;

  // A file of the view was opened or, when the page cache did not have it, read (`missed`).
  void OnAccess(EntryNumber file, bool missed, uint64_t now_us);
  // The file may have been put into the retained cache after a READ.
  void LookIfRetained(const ViewFile& file);

  // Takes up what has changed around it: whether opens are seen, and how much room the page cache has.
  void LookAround();
  // Begins all that the planner wants now.
  void CarryOut();
  // For 'augurctl drop': ends a warming, drops the push window and forgets the kept files. Returns the bytes of the
  // push window.
  uint64_t Drop();
  void CountUnopened(uint64_t now_us) { staged_.CountUnopened(now_us); }

  bool busy() const { return reads_.busy() || pages_.busy() || retained_.busy(); }
  Planner& planner() { return *planner_; }
  const Planner& planner() const { return *planner_; }
  ReadPipeline& reads() { return reads_; }
  PushedPages& pages() { return pages_; }
  RetainedFiles& retained() { return retained_; }
  Warming& warming() { return warming_; }

 private:
  void LookWhatIsSeen();
  void LookForRoom();
  void TakeUnplanned(const Order& files);
  void LetGo(EntryNumber file);
  void Queue(const SharedOrder& order);

  // Constant after construction.
  const Means means_;
  const bool pushes_;  // files of this view, into the page cache

  ViewFiles& files_;
  PlannedFiles planned_;
  // Shared with answers that may come later than the end of this.
  const std::shared_ptr<Planner> planner_;
  StagedFiles staged_;
  RetainedFiles retained_;
  PushedPages pages_;
  ReadPipeline reads_;
  Warming warming_;
  std::optional<bool> opens_seen_;
  uint64_t room_asked_us_ = 0;  // when the page cache's room was looked at
  uint64_t drops_seen_ = 0;     // of the whole page cache, then
};

}  // namespace augur
