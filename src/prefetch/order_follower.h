// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "augur/store.h"
#include "control/statistics.h"
#include "datasets/path_order.h"
#include "datasets/sequence_detector.h"
#include "prefetch/followed_view.h"
#include "prefetch/planned_files.h"
#include "prefetch/prefetcher_options.h"
#include "prefetch/retained_blocks.h"

namespace augur {

// OrderFollower decides which order is followed: one that was given, else one that was predicted, else a pass in path
// order that it recognises by itself. When no order is known and all of the store fits in the retained cache, it has
// all of it brought. Used by the planning thread only, but for Announce and given_files. REQUIRES: what it is given
// outlives it.
class OrderFollower {
 public:
  // In the planner's tables, for a file that is read once.
  static constexpr uint64_t kBytesPerFileAndRead = Planner::kBytesPerFile + EpochOrder::kBytesPerRead;

  struct Means {
    std::shared_ptr<const Store> store;
    Statistics& statistics;
    const PrefetcherOptions& options;
    RetainedBlocks* retained;  // nullptr: there is no retained cache
    const PrefetchMount& mount;
    FollowedView& view;
  };
  explicit OrderFollower(const Means& means);
  OrderFollower(const OrderFollower&) = delete;
  OrderFollower& operator=(const OrderFollower&) = delete;

  // An order of this number of files will be given, behind those that were given before or in place of them. Safe from
  // any thread.
  void Announce(uint64_t files, bool instead);
  // Files of given orders that are not read yet. Safe from any thread.
  uint64_t given_files() const { return given_files_.load(std::memory_order_relaxed); }

  // PrefetchControl::AddOrder. Predicted orders give way to it.
  void Give(const SharedOrder& order, bool instead);
  // PredictedOrders. Orders of another view wait until that one is followed, and so do those that come behind them.
  void Predict(const SharedOrder& order, uint32_t view, bool anew);
  void ForgetPredicted();

  // A file of the view that is followed was read or opened.
  void OnAccess(EntryNumber file);
  // 'augurctl drop': nothing was read so far.
  void ForgetReads();

  // Decides which order is followed. False: another view is about to be followed, and something is still under way.
  bool Follow();
  // Counts the files of given orders that are not read yet.
  void CountGiven();

 private:
  void Queue(const SharedOrder& order, OrderSource source);
  void ForgetOrders();
  bool BeginAnew();
  bool GivenHasEnded();
  void FollowPass();
  void FillWhenAllFits();

  // Constant after construction.
  const Means means_;

  // Own synchronization.
  PathOrder path_order_;
  std::atomic<uint64_t> given_files_ = 0;

  SequenceDetector detector_;
  uint64_t reads_at_end_ = 0;  // of those seen, when the front came to the end of the orders
  bool full_ = false;          // the planner's tables, of files that were read long ago
};

}  // namespace augur
