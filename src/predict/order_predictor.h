// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "base/mutex.h"
#include "control/order_report.h"
#include "control/render.h"
#include "control/statistics.h"
#include "predict/access_queue.h"
#include "predict/order_predictor_options.h"
#include "predict/order_tracker.h"
#include "predict/prediction_status.h"
#include "prefetch/predicted_orders.h"
#include "recorded_runs/replay_store.h"
#include "samplers/sampler_description.h"
#include "seed_search/searcher.h"

namespace augur {

// OrderPredictor works out in which order files will be read, and tells the prefetch. It has the thread of the
// prediction and the queue of accesses; OrderTracker decides.
//
// Safe from any thread. All is done by its own thread, to which accesses and results are posted; searches run on the
// Searcher's threads. When the thread is behind by `accesses_max` accesses, further ones are dropped and counted
// (Stat::kAccessesDropped). Then an order may be lost until it is found again, and an epoch whose order is not known is
// not recorded. REQUIRES: what it is given outlives it.
class OrderPredictor {
 public:
  OrderPredictor(std::shared_ptr<const Store> store, PredictedOrders& orders, Statistics& statistics,
                 OrderPredictorOptions options);
  // Stops.
  ~OrderPredictor();
  OrderPredictor(const OrderPredictor&) = delete;
  OrderPredictor& operator=(const OrderPredictor&) = delete;

  // kNoSpace: the system gives no thread.
  Status Start();
  void Stop();

  // A thread (0: not known which) has read a file of a view, or a process has opened files of it. Does not wait.
  void OnRead(uint32_t view, EntryNumber file, uint32_t reader);
  void OnOpened(uint32_t view, std::span<const EntryNumber> files);
  // The user says how the coming epochs are drawn. Believed before all other guesses, and dropped when it is wrong.
  void AddHint(SamplerDescription hint);

  // Returns when all that was told before has been taken in. REQUIRES: started, and not stopped meanwhile.
  void Flush();

  // For people, which orders were found and how sure they are: "predicted", and a line for each job.
  Facts Describe() const;
  // The same job by job, for a screen: running ones first, those whose order is known before the others.
  std::vector<OrderReport> Reports() const;

 private:
  uint64_t NowUs() const { return options_.clock_us(); }
  void Run();

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  PredictedOrders& orders_;
  Statistics& statistics_;
  const OrderPredictorOptions options_;  // with a clock
  // Constant after Start.
  std::unique_ptr<ReplayStore> runs_;
  // Own synchronization.
  AccessQueue queue_;
  // Used by the thread only.
  std::unique_ptr<OrderTracker> tracker_;

  mutable Mutex mu_;
  PredictionStatus status_ AUGUR_GUARDED_BY(mu_);

  std::unique_ptr<Searcher> searcher_;
  std::thread thread_;
};

}  // namespace augur
