// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "cache/buffer_pool.h"
#include "cache/record_cache.h"
#include "cache/retained_cache.h"
#include "control/statistics.h"
#include "prefetch/disk_model.h"
#include "prefetch/event_queue.h"
#include "prefetch/followed_view.h"
#include "prefetch/order_follower.h"
#include "prefetch/predicted_orders.h"
#include "prefetch/prefetch_control.h"
#include "prefetch/prefetch_status.h"
#include "prefetch/prefetcher_options.h"
#include "prefetch/push_queue.h"
#include "prefetch/read_observer.h"
#include "prefetch/retain_thread.h"
#include "prefetch/retained_blocks.h"
#include "prefetch/unplanned_pages.h"
#include "prefetch/view_file.h"
#include "prefetch/view_prefetch.h"
#include "prefetch/watched_folders.h"
#include "store/shard_source.h"

namespace augur {

// Prefetcher is the prefetch of a mount. It is told what readers do and which orders are known. It has an OrderFollower
// decide which of them is followed, and a ViewPrefetch read ahead, keep, push and drop. PREFETCH.md tells how they
// decide.
//
// It follows one view of the mount at a time, at first that of the root: another is taken up when that alone is read.
// Of a view's images, records are read, rendered as the view shows them, and that is kept and pushed as any file is.
//
// Safe from any thread. One thread does all planning, and every event is posted to it. So the planner needs no lock,
// and no reader waits for it. Further threads only push, and copy to the retained cache. When `accesses_max` accesses
// wait for the planning thread, further ones are dropped and counted (Stat::kPrefetchAccessesDropped). REQUIRES: what
// it is given outlives it, and no READ is answered any more when it is destroyed. Not for READs of readers:
// BlockReader.
class Prefetcher final : public PrefetchControl, public ReadObserver, public PredictedOrders {
 public:
  // Memory in the planner's tables for a store of `files` files, all of them left in the page cache, and eight epochs.
  static constexpr uint64_t OrderBytes(uint64_t files) { return ViewPrefetch::OrderBytes(files); }

  // `retained` may be nullptr: there is no retained cache.
  Prefetcher(std::shared_ptr<const Store> store, ShardSource& shards, RecordCache& cache, RetainedBlocks* retained,
             Statistics& statistics, const PrefetcherOptions& options);
  // Stops.
  ~Prefetcher() override;
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // Who else is told of every read and open that is seen. To be set before Start.
  struct AccessListener {
    std::function<void(uint32_t view, EntryNumber file, uint32_t reader)> read;
    std::function<void(uint32_t view, std::span<const EntryNumber> files)> opened;
  };
  void SetAccessListener(AccessListener listener) { access_listener_ = std::move(listener); }

  // Begins to work, once the mount is served. Each may be nullptr where there is none. kNoSpace: the system gives no
  // thread.
  Status Start(PageSink* sink, MountView* view, ViewSource* views);
  // Ends the threads. Pushes, reads and files that are being rendered end first; READs must still be answered
  // meanwhile, and `view` and `views` be there.
  void Stop();

  // What PrefetcherOptions::opens_wanted says has changed. Any thread.
  void LookWhetherOpensAreWanted();

  // What the MountView sees.
  void OnOpened(uint32_t view, std::span<const EntryNumber> files);

  // PrefetchControl.
  uint64_t OrderFilesMax(Place place) const override;
  Status AddOrder(Order order, Place place) override;
  std::vector<std::pair<std::string, std::string>> Describe() const override { return status_.Facts(); }
  DropReport Drop() override;
  Result<uint64_t> BeginWarm(std::shared_ptr<const Order> files) override;
  Result<WarmReport> Warmed(uint64_t run, bool end) override;

  // PredictedOrders.
  void Predict(SharedOrder order, uint32_t view, bool anew) override;
  void ForgetPredicted() override;
  void NeedOpens(bool needed) override;
  bool FollowsGiven() const override { return orders_.given_files() > 0; }
  uint64_t PredictedFilesMax() const override;

  // ReadObserver.
  void OnOpen(const ViewFile& file, uint32_t reader) override;
  void OnRead(const ViewFile& file, uint32_t reader) override;
  void OnBrought(const ViewFile& file) override;
  void OnReadToEnd(const ViewFile& file) override;
  void OnLoaded(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes) override;
  void OnRendered(const ViewFile& file, std::span<const std::byte> bytes, bool again) override;

 private:
  void PostAccesses(EventQueue::Event event, uint64_t count = 1);
  void RetainWithRoom(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes);

  // The planning thread's:
  void Run();
  void Decide();
  void Publish();
  void OnAccess(uint32_t view, EntryNumber file, bool missed, uint64_t now_us);
  void ReadToEnd(uint32_t view, EntryNumber file, uint64_t bytes);

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  ShardSource& shards_;
  Statistics& statistics_;
  const PrefetcherOptions options_;

  // Constant after Start; the second is for the planning thread alone.
  AccessListener access_listener_;
  PrefetchMount mount_;

  // Own synchronization.
  RetainedBlocks* const retained_;  // nullptr: there is no retained cache
  BufferPool chunks_;
  EventQueue events_;
  PrefetchStatus status_;
  std::atomic<bool> retain_demand_ = true;  // blocks that are read on demand are kept as long as there is room

  // Used by the planning thread only.
  bool ending_ = false;     // nothing is begun any more
  uint64_t warm_runs_ = 0;  // so far
  DiskModel disk_;          // of the shards, whatever view is followed
  WatchedFolders folders_;
  UnplannedPages unplanned_;

  // Their threads post to this one.
  PushQueue pusher_;
  std::unique_ptr<RetainThread> retain_thread_;  // when there is a retained cache
  std::thread thread_;

  // Used by the planning thread only, with all of the others.
  FollowedView view_;
  OrderFollower orders_;
};

}  // namespace augur
