// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "augur/store.h"
#include "control/statistics.h"
#include "datasets/sample_lists.h"
#include "predict/access_queue.h"
#include "predict/forecast_publisher.h"
#include "predict/hints.h"
#include "predict/hot_data_pause.h"
#include "predict/identified_order.h"
#include "predict/job_table.h"
#include "predict/order_finder.h"
#include "predict/order_handover.h"
#include "predict/order_predictor_options.h"
#include "predict/prediction_status.h"
#include "prefetch/predicted_orders.h"
#include "readers/epochs.h"
#include "readers/proc_source.h"
#include "recorded_runs/replay_store.h"
#include "samplers/sampler_description.h"
#include "seed_search/searcher.h"

namespace augur {

// OrderTracker follows the reads of all jobs. It watches who reads what (EpochWatch), and gives each access to its job
// (JobTable). It has the order of each epoch looked for that nothing predicted (OrderFinder). It follows known orders
// (JobPredictor), and tells the prefetch the coming reads of all jobs. FORESEE.md tells how it decides.
//
// Not synchronized: the OrderPredictor's thread owns it. Results of searches are posted to the queue, and the events of
// each batch call it back. REQUIRES: what it is given outlives it, and the events of the queue run on the same thread.
class OrderTracker {
 public:
  // `options`: with a clock, and with known samplers. `runs`: nullptr: no runs are recorded.
  OrderTracker(const std::shared_ptr<const Store>& store, PredictedOrders& orders, Statistics& statistics,
               const OrderPredictorOptions& options, ReplayStore* runs, Searcher& searcher, AccessQueue& queue);
  OrderTracker(const OrderTracker&) = delete;
  OrderTracker& operator=(const OrderTracker&) = delete;

  void AddHint(SamplerDescription hint);
  // Takes in the accesses of a batch, whose events have run, and does what follows from them and from the time.
  void Take(const AccessQueue::Batch& batch);
  // The mount ends: takes in the last accesses, and records the epochs that they end.
  void Finish(const AccessQueue::Batch& batch);
  // No orders are looked for, because all files come from memory.
  bool paused() const { return pause_.paused(); }
  PredictionStatus Describe() const;

 private:
  uint64_t NowUs() const { return options_.clock_us(); }
  void TakeOverHints();
  void TakeAccess(const Access& access);
  void NoteScript(TrackedJob& job, const Access& access);
  void TakeGap(uint64_t dropped);
  void TakeEvents();
  void BeginPass(TrackedJob& job);
  void EndJob(TrackedJob& job);
  void Follow(TrackedJob& job, IdentifiedOrder found);
  void Lose(TrackedJob& job);
  void Tell(bool anew);
  void Look();
  bool IsHot() const;
  void LookAtHeat(uint64_t now_us);
  void LookAtGiven();
  void Pause();
  void Resume(uint64_t now_us);

  // Constant after construction.
  PredictedOrders& orders_;
  Statistics& statistics_;
  const OrderPredictorOptions options_;

  ProcSource source_;
  ProcessTable processes_;
  EpochWatch watch_;
  SampleLists lists_;
  JobTable jobs_;
  Hints hints_;
  OrderHandover handover_;
  OrderFinder finder_;
  std::string ended_;    // describes the order of the last job that has ended, until another order is found
  uint32_t script_ = 0;  // that has read last; 0: not known
  bool given_ = false;   // the prefetch follows an order of the user's: none is looked for
  HotDataPause pause_;   // while data is hot and no order is known: there are no jobs
  ForecastPublisher forecast_;
  uint64_t looked_us_ = 0;
};

}  // namespace augur
