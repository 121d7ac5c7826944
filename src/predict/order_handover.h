// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/lasting_texts.h"
#include "control/lasting_orders.h"
#include "datasets/sample_lists.h"
#include "predict/followed_order.h"
#include "predict/hints.h"
#include "predict/identified_order.h"
#include "readers/epochs.h"
#include "recorded_runs/replay_store.h"
#include "samplers/known_samplers.h"

namespace augur {

// OrderHandover hands the user's hints, and the orders that jobs follow, from one daemon of a mount to the next one.
// The daemon that follows an order writes down which one it is. For each job it writes down the last order of each
// dataset, so that a validation does not take the place of the training. The next daemon sees reads from somewhere in
// an epoch. They are compared with these orders, and with those that come after them, before anything is searched. So
// six reads tell an order for which the first daemon searched 2^32 seeds, and which no search can find in the midst of
// an epoch.
//
// Not synchronized: for the OrderPredictor's thread. Memory: an order while it is compared; of a recorded run, all its
// epochs.
class OrderHandover {
 public:
  // Orders with which no job has gone on for this time are of jobs that have ended meanwhile. A job that writes a
  // checkpoint or validates reads nothing of its training set for minutes. Meanwhile each try of a job without an order
  // makes each of them twice more, 0.2 s for a million samples (WholeOrder), which TryBudget bounds.
  static constexpr uint64_t kTakeUs = 600'000'000;

  // What it works with outlives it.
  struct Parts {
    LastingOrders* lasting = nullptr;  // nullptr: there is no next daemon
    SampleLists& lists;
    const Hints& hints;
    ReplayStore* runs = nullptr;  // nullptr: no runs are recorded
    std::shared_ptr<const std::vector<KnownSampler>> known;
    uint64_t files = 1;  // of the store
  };
  explicit OrderHandover(Parts parts) : parts_(std::move(parts)) {}
  OrderHandover(const OrderHandover&) = delete;
  OrderHandover& operator=(const OrderHandover&) = delete;

  // The order of an earlier daemon that these reads go on with; none: there is none, or they are too few to tell.
  std::optional<IdentifiedOrder> Find(const EpochStart& epoch);
  // The job follows this order from now on. Where there is no room, the order that was written least recently goes.
  void Follow(JobId job, const IdentifiedOrder& order);
  // The job has ended.
  void Leave(JobId job);
  // Files are read; from the first call on, time counts for kTakeUs.
  void Tick(uint64_t now_us);

  // The hints that the daemon before had, the oldest first; none if they were taken already.
  std::vector<Hints::Earlier> TakeHints();
  // Those of `hints` are the hints from now on. Nothing happens before TakeHints.
  void WriteHints();

 private:
  // One of the texts. It is free, or has an order of an earlier daemon, or one that a job of this daemon follows.
  struct Place {
    LastingTexts::Text* text;
    std::optional<FollowedOrder> earlier;  // no job of this daemon has gone on with it
    std::optional<JobId> job;
    std::string dataset;   // JobHistory::DatasetOf
    uint64_t written = 0;  // number of the Follow that wrote it

    bool IsFree() const { return !earlier && !job; }
  };

  void Load();
  static void Free(Place* place);
  Place* PlaceOf(JobId job, const std::string& dataset);
  FollowedOrder Describe(const IdentifiedOrder& order) const;
  std::vector<std::string> NamesOf(const Guess& guess) const;
  std::optional<Guess> GuessOf(const std::string& name, uint64_t epoch) const;
  std::optional<Guess> GuessOf(const FollowedOrder& order, uint64_t samples) const;
  std::optional<IdentifiedOrder> Make(const FollowedOrder& order) const;

  const Parts parts_;
  std::vector<Place> places_;  // one a text, once they are loaded
  uint64_t follows_ = 0;
  std::optional<uint64_t> first_us_;
  bool hints_taken_ = false;
  std::vector<std::vector<std::string>> hints_;  // as they are written
};

}  // namespace augur
