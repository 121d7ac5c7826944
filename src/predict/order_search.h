// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "predict/identified_order.h"
#include "predict/search_request.h"
#include "samplers/known_samplers.h"
#include "seed_search/searcher.h"

namespace augur {

// OrderSearch looks for the order of one epoch by all that can be tried, the cheapest first:
//   1. The known samplers.
//   2. The same from anywhere in the epoch.
//   3. Where the job may have begun in mid-epoch: later epochs of known seeds, the likeliest, from anywhere in them.
//   4. All 2^32 seeds of torch's generator.
//   5. Where the job may have begun in mid-epoch: more of those later epochs.
//   6. The small sets of seeds that shuffles from the end are drawn from.
// Those sets are before all seeds where these are unlikely (SearchRequest::lists_first). All seeds are first of all
// where an epoch before had one of them. Each stage is a job of the Searcher. What a stage believes ends the search,
// and so does a spent allowance.
//
// Safe from any thread. `answered` is called once, on a thread of the Searcher's, when the search has ended: with an
// order, or with none; after Cancel with none. It must not destroy the search. REQUIRES: the searcher outlives it.
class OrderSearch : public std::enable_shared_from_this<OrderSearch> {
 public:
  using Answered = std::function<void(std::optional<IdentifiedOrder>)>;

  OrderSearch(Searcher& searcher, std::shared_ptr<const std::vector<KnownSampler>> known, SearchRequest request,
              Answered answered);
  OrderSearch(const OrderSearch&) = delete;
  OrderSearch& operator=(const OrderSearch&) = delete;

  // Whether the reads are enough to tell one seed of 2^32 from all others.
  static bool Decidable(const SearchRequest& request);

  // Begins the first stage.
  void Begin();
  // It ends soon; `answered` is still called.
  void Cancel();
  // For people: "searching all 2^32 seeds of 50,000 samples: 12 % in 4 s"; empty before and after.
  std::string Describe() const;
  // Whether there was a stage that costs tens of core-seconds.
  bool searched() const { return searched_.load(std::memory_order_relaxed); }

 private:
  struct Stage {
    SearchJob job;
    bool search = false;
  };

  void MakeStages();
  void AddGuessStage(std::string name, uint64_t count, const std::function<Guess(uint64_t)>& guess_of, bool mid_epoch,
                     bool search = false);
  void AddResumedStage(const std::shared_ptr<const std::vector<Guess>>& later, uint64_t begin, uint64_t end);
  void AddSeedStages();
  void AddListStages();
  void AddStage(SearchJob job, bool search);
  bool Worth(double tried) const;
  bool Spent() const { return request_.allowance && request_.allowance->spent(); }
  void Next();
  void Found(IdentifiedOrder found);
  std::string HowFound(std::string_view how, size_t test) const;

  // Constant after construction.
  Searcher& searcher_;
  const std::shared_ptr<const std::vector<KnownSampler>> known_;
  const SearchRequest request_;
  const Answered answered_;

  std::chrono::steady_clock::time_point begun_;  // set by Begin

  std::atomic<bool> searched_ = false;
  std::atomic<bool> cancelled_ = false;
  mutable Mutex mu_;
  // Guarded by mu_:
  std::vector<Stage> stages_ AUGUR_GUARDED_BY(mu_);
  size_t stage_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t job_ AUGUR_GUARDED_BY(mu_) = 0;
  std::string stage_name_ AUGUR_GUARDED_BY(mu_);
  std::optional<IdentifiedOrder> found_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
