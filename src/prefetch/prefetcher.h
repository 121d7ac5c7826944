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
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "base/mutex.h"
#include "cache/buffer_pool.h"
#include "cache/record_cache.h"
#include "cache/retained_cache.h"
#include "control/statistics.h"
#include "datasets/path_order.h"
#include "datasets/sequence_detector.h"
#include "prefetch/batch_read.h"
#include "prefetch/demand_hooks.h"
#include "prefetch/event_queue.h"
#include "prefetch/fetched_files.h"
#include "prefetch/inactive_view_pages.h"
#include "prefetch/keep_thread.h"
#include "prefetch/kept_blocks.h"
#include "prefetch/mount_view.h"
#include "prefetch/page_sink.h"
#include "prefetch/planner.h"
#include "prefetch/predicted_orders.h"
#include "prefetch/prefetch_control.h"
#include "prefetch/push_queue.h"
#include "prefetch/view_file.h"
#include "prefetch/view_orders.h"
#include "prefetch/view_source.h"
#include "store/shard_source.h"

namespace augur {

struct PrefetcherOptions {
  uint64_t kept_bytes_max = 0;   // of the retained cache
  uint64_t chunk_bytes = 0;      // memory for what is being read ahead, or read and on its way
  uint64_t stock_bytes_max = 0;  // of the page cache; 0: nothing is pushed
  uint64_t lent_bytes_max = 0;   // of those, what the retained cache may have for a time
  uint64_t order_bytes_max = 0;  // memory for orders
  // How much of the page cache there is now for files that were read and will be again; asked once a second while
  // something is followed. None where it is empty.
  std::function<uint64_t()> left_bytes_max;
  // What the page cache has room for is kept as well: another mount may need it, or the next run.
  bool keeps_read = false;
  bool opens_asked = false;  // the kernel asks for each open (DemandHooks::OnOpen), so no folder is watched
  uint32_t own_process = 0;  // whose opens are our own, of the MountView; 0: there is none
  unsigned reads_max = 32;
  unsigned push_threads = 1;
  uint64_t hints_max = 32'768;  // that wait for the planning thread: half a second of 65,000 reads and opens a second
};

// Prefetcher carries out what the Planner decides: reads ahead, keeps in the retained cache, pushes into the page
// cache, drops behind the reader. It follows orders that it is given, and passes in path order that it recognises by
// itself; when all of the store fits in the retained cache, it brings the rest of it as well. PREFETCH.md tells how it
// decides.
//
// It follows one view of the mount at a time, at first that of the root: another is taken up when that alone is read.
// Of a view's images, records are read, made into what the view shows, and that is kept and pushed as any file is.
//
// Safe from any thread. All planning is done by one thread of its own, to which everything that happens is posted, so
// the planner needs no lock and nobody waits for it; further threads only push, and copy to the retained cache. When
// the planning thread is behind by `hints_max` hints, further hints are dropped and counted (Stat::kHintsDropped).
// REQUIRES: what it is given outlives it, and no READ is answered any more when it is destroyed. Not for reads that
// somebody waits for: BlockReader.
class Prefetcher final : public PrefetchControl, public DemandHooks, public PredictedOrders {
 public:
  // Memory in the planner's tables for a store of `files` files, all of them left in the page cache, and eight epochs.
  static constexpr uint64_t OrderBytes(uint64_t files) {
    return files * (Planner::kBytesPerFile + Planner::kBytesPerLeft + 8 * Planner::kBytesPerRead);
  }

  // `retained cache` may be nullptr: nothing is kept.
  Prefetcher(std::shared_ptr<const Store> store, ShardSource& shards, RecordCache& cache, RetainedCache* retained_cache,
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
  void SetAccessListener(AccessListener witness) { access_listener_ = std::move(witness); }

  // Begins to work, once the mount is served. Each may be nullptr where there is none. kNoSpace: the system gives no
  // thread.
  Status Start(PageSink* sink, MountView* view, ViewSource* views);
  // Ends the threads. Pushes, reads and what is being made end first; READs must still be answered meanwhile, and
  // `view` and `views` be there.
  void Stop();

  // What the MountView sees.
  void OnOpened(uint32_t view, std::span<const EntryNumber> files);

  // PrefetchControl.
  uint64_t OrderFilesMax(Place place) const override;
  Status AddOrder(Order order, Place place) override;
  std::vector<std::pair<std::string, std::string>> Describe() const override;
  DropReport Drop() override;

  // PredictedOrders.
  void Predict(Order order, uint32_t view, bool anew) override;
  void ForgetPredicted() override;
  void NeedOpens(bool needed) override;
  bool FollowsGiven() const override { return order_files_.load(std::memory_order_relaxed) > 0; }
  uint64_t PredictedFilesMax() const override;

  // DemandHooks.
  void OnOpen(const ViewFile& file, uint32_t reader) override;
  void OnRead(const ViewFile& file, uint32_t reader) override;
  void OnReadToEnd(const ViewFile& file) override;
  std::optional<RetainedCache::Pin> Find(const ViewFile& file, uint64_t block) override;
  void OnLoaded(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes) override;
  void OnMade(const ViewFile& file, std::span<const std::byte> bytes, bool again) override;

 private:
  enum class Source { kNothing, kOrder, kPredicted, kSequence };
  // For files that are made of their records.
  using Memories = std::unordered_map<EntryNumber, std::shared_ptr<SealableBuffer>>;

  static uint64_t NowUs();
  void PostHint(EventQueue::Event hint, uint64_t count = 1);
  void Run();

  // The planning thread's:
  Planner& planner();
  void LookWhatIsSeen();
  void LookForRoom();
  void Decide();
  void StartReads();
  bool AllocateFor(const ReadPlan& plan, Buffer* chunk, Memories* memories);
  void StartPushes();
  void StartDrops();
  void DropPages(const std::vector<EntryNumber>& files);
  void Watch(std::span<const EntryNumber> folders);
  void WatchFolderOf(EntryNumber file);
  void WatchAsNeeded();
  void ForgetOrders();
  bool FollowsFound() const;
  void FollowSequence();
  void FillWhenAllFits();
  Result<ViewFile> ResolveInView(uint32_t view, EntryNumber file) const;
  Result<ViewFile> Shown(EntryNumber file) const { return ResolveInView(shown_view_, file); }
  FilePlace PlaceIn(uint32_t view, EntryNumber number) const;
  FilePlace PlaceOf(EntryNumber number) const { return PlaceIn(shown_view_, number); }
  uint64_t MeanBytesOf(uint32_t view) const;
  uint64_t MeanBytes();
  uint64_t ThereBytes();
  bool HasRoomBeside(uint64_t there_bytes) const;
  bool ReadElsewhereNext() const;
  void ShowView(uint32_t view);
  void SawElsewhere(uint32_t view);
  bool BeginAnew();
  void Queue(const Order& order, Source source);
  void Saw(uint32_t view, EntryNumber file, bool missed, uint64_t now_us);
  void ReadToEnd(uint32_t view, EntryNumber file, uint64_t bytes);
  void TakeReadUnknown(const Order& files);
  void OnLanded(const std::shared_ptr<BatchRead>& flight, const Memories& memories);
  void Make(const ReadPlan::Item& item, const ViewFile& file, std::vector<BlockRef> record,
            const std::shared_ptr<SealableBuffer>& memory);
  void Take(const ViewFile& file, std::vector<BlockRef> blocks, const Arrival& arrival);
  void OnPushed(const PushQueue::Push& push, PushOutcome outcome, bool lost);
  void OnDropped(EntryNumber file);
  void KeepWithRoom(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes);
  void Keep(const ViewFile& file, std::span<const BlockRef> blocks, const KeepPlan& plan);
  void OnKept(const std::optional<ViewFile>& file, bool kept);
  void EvictUnknown(uint64_t bytes);
  void EvictUnknownAhead();
  void OnUnknownEvicted(uint64_t freed_bytes);
  // Of the retained cache; and what it has room for beyond that, of the stock.
  uint64_t KeptMax() const;
  uint64_t LentMax() const;
  bool Busy() const { return batch_reads_ + makes_ + pushes_ + drops_ + keeps_ > 0; }
  void Wasted(EntryNumber file);
  void CountWasted(EntryNumber file);
  void LetGo(EntryNumber file);
  void SettleDoubts();
  bool AlreadyKept(const ReadPlan& plan);
  bool AlreadyMade(const ReadPlan& plan) const;
  void MakeWithoutRecords(const ReadPlan& plan, const Memories& memories);
  void StatAhead(EntryNumber file);
  void AskStats();
  void Publish();

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  ShardSource& shards_;
  RecordCache& cache_;
  Statistics& statistics_;
  const PrefetcherOptions options_;

  // Constant after Start.
  AccessListener access_listener_;
  PageSink* sink_ = nullptr;
  MountView* view_ = nullptr;
  ViewSource* views_ = nullptr;

  // Own synchronization.
  std::unique_ptr<KeptBlocks> kept_;
  BufferPool chunks_;
  PathOrder path_order_;
  EventQueue events_;
  std::atomic<bool> keep_demand_ = true;  // what is read on demand is kept as long as there is room
  std::atomic<uint64_t> order_files_ = 0;

  // Used by the planning thread only.
  bool ending_ = false;  // nothing is begun any more
  DiskModel disk_;       // of the shards, whatever view is followed
  std::unique_ptr<Planner> planner_;
  SequenceDetector detector_;
  Source source_ = Source::kNothing;
  uint32_t shown_view_ = 0;       // that is followed
  uint32_t wanted_view_ = 0;      // in its place, as soon as nothing is under way
  uint32_t elsewhere_ = 0;        // the last view that was read and is not followed
  uint64_t reads_elsewhere_ = 0;  // of it, since the last one of `shown_view_`
  uint64_t reads_at_turn_ = 0;    // of those seen
  ViewOrders elsewhere_orders_;   // of views that are not followed now, and what comes behind them
  InactiveViewPages inactive_pages_;
  uint64_t mean_bytes_ = 0;  // 0: not known
  uint64_t batch_reads_ = 0;
  uint64_t batch_reads_told_ = 0;  // in Gauge::kReadsInFlight
  uint64_t makes_ = 0;
  uint64_t pushes_ = 0;
  uint64_t drops_ = 0;
  uint64_t keeps_ = 0;
  uint64_t keeping_bytes_ = 0;
  uint64_t reads_seen_ = 0;
  uint64_t reads_at_end_ = 0;    // of them, when the front came to the end of the orders
  uint64_t room_asked_us_ = 0;   // when the page cache's room was looked at
  uint64_t short_since_us_ = 0;  // the retained cache had no room; 0: it has
  uint64_t all_known_us_ = 0;    // what it has was found to be known, or another's
  bool evicting_unknown_ = false;
  bool filling_ = false;
  bool full_ = false;  // the planner's tables, of files that were read long ago
  bool sight_known_ = false;
  bool opens_ = false;    // are seen
  bool refused_ = false;  // no memory for a chunk: until one is let go
  std::unordered_map<EntryNumber, std::vector<BlockRef>> held_;
  std::unordered_map<EntryNumber, std::vector<BlockRef>> keeping_;  // not yet in the retained cache
  FetchedFiles fetched_;
  std::unordered_set<EntryNumber> probed_;   // whether the retained cache had them: all of the orders of this view
  std::shared_ptr<const Order> filled_;      // all files, once they were to be brought
  std::vector<bool> read_unknown_;           // by entry: read to its end, and not known to the planner then
  std::unordered_set<EntryNumber> watched_;  // folders, or would be if opens were needed
  bool opens_needed_ = true;                 // by the witness
  bool unwatched_ = false;                   // no folder is watched
  bool names_unknown_ = false;               // to the kernel, of some files
  std::unordered_set<EntryNumber> statted_;  // ahead of their push, in this order
  std::vector<EntryNumber> to_stat_;
  std::vector<EntryNumber> unknown_;  // their push was refused for it

  mutable Mutex mu_;
  std::string spec_ AUGUR_GUARDED_BY(mu_);  // of the view; empty: the original files
  std::string policy_ AUGUR_GUARDED_BY(mu_) = "idle";
  std::string progress_ AUGUR_GUARDED_BY(mu_) = "none";
  double disk_read_us_ AUGUR_GUARDED_BY(mu_) = 0;
  double disk_bytes_per_second_ AUGUR_GUARDED_BY(mu_) = 0;

  // Their threads post to this one.
  PushQueue pusher_;
  std::unique_ptr<KeepThread> keep_thread_;  // when there is a retained cache
  std::thread thread_;
};

}  // namespace augur
