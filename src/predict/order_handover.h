// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
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
#include "samplers/sampler_description.h"

namespace augur {

// OrderHandover hands the user's hints, and the orders that jobs follow, from one daemon of a mount to the next one.
// The daemon that follows an order writes down which one it is. The next daemon sees reads from somewhere in an epoch.
// They are compared with these orders, and with those that come after them, before anything is searched. So six reads
// tell an order for which the first daemon searched 2^32 seeds, and which no search can find in the midst of an epoch.
//
// Not synchronized: for the OrderPredictor's thread. Memory: an order while it is compared.
class OrderHandover {
 public:
  // Orders with which no job has gone on after this number of reads are of jobs that have ended meanwhile: 256 reads of
  // each of 16 jobs, for as many can be written (LastingTexts::kTextsMax). Six tell an order.
  static constexpr uint64_t kReadsToTake = 4096;

  // What it works with outlives it.
  struct Parts {
    LastingOrders* lasting = nullptr;  // nullptr: there is no next daemon
    SampleLists& lists;
    const Hints& hints;
    ReplayStore* runs = nullptr;  // nullptr: no runs are recorded
    std::shared_ptr<const std::vector<KnownSampler>> known;
  };
  explicit OrderHandover(Parts parts) : parts_(std::move(parts)) {}
  OrderHandover(const OrderHandover&) = delete;
  OrderHandover& operator=(const OrderHandover&) = delete;

  // A job has read a file.
  void CountRead() {
    if (!earlier_.empty() && ++reads_ > kReadsToTake) DropEarlier();
  }
  // The order of an earlier daemon that these reads go on with; none: there is none, or they are too few to tell.
  std::optional<IdentifiedOrder> Find(const EpochStart& epoch);
  // The job follows this order from now on; or none that is known.
  void Follow(JobId job, const IdentifiedOrder& order);
  void Leave(JobId job);

  // The hints that the daemon before had, the oldest first; none if they were taken already.
  std::vector<SamplerDescription> TakeHints();
  // Those of `hints` are the hints from now on. Nothing happens before TakeHints.
  void WriteHints();

 private:
  struct Earlier {
    LastingTexts::Text* text;  // where it is written
    FollowedOrder order;
  };

  void Load();
  void DropEarlier();
  FollowedOrder Describe(const IdentifiedOrder& order) const;
  std::vector<std::string> NamesOf(const Guess& guess) const;
  std::optional<Guess> GuessOf(const std::string& name, uint64_t epoch) const;
  std::optional<IdentifiedOrder> Make(const FollowedOrder& order) const;

  const Parts parts_;
  bool loaded_ = false;
  std::vector<Earlier> earlier_;  // that no job of this daemon has gone on with
  uint64_t reads_ = 0;
  std::unordered_map<JobId, LastingTexts::Text*> written_;
  std::vector<LastingTexts::Text*> free_;
  bool hints_taken_ = false;
  std::vector<std::vector<std::string>> hints_;  // as they are written
};

}  // namespace augur
