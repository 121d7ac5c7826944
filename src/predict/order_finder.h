// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "datasets/sample_lists.h"
#include "predict/access_queue.h"
#include "predict/candidate_scorer.h"
#include "predict/hints.h"
#include "predict/identified_order.h"
#include "predict/job_table.h"
#include "predict/next_epochs.h"
#include "predict/order_handover.h"
#include "predict/order_predictor_options.h"
#include "predict/search_request.h"
#include "predict/tracked_job.h"
#include "predict/try_budget.h"
#include "readers/epochs.h"
#include "recorded_runs/replay_store.h"
#include "samplers/known_samplers.h"
#include "seed_search/searcher.h"

namespace augur {

// OrderFinder looks for the orders of all jobs whose orders are not known. A try compares the first reads of a pass
// with candidates, in this order:
//   1. the order that the job has lost: it may follow it after all;
//   2. the orders that the daemon before this one has handed over;
//   3. the order of the opens of unknown processes: they may have been this job's;
//   4. the user's hints;
//   5. the recorded runs;
//   6. the epochs that may follow from those before, and the known samplers;
//   7. the streams of common seeds.
// If none fits, and the reads are enough to tell one seed of 2^32, a search in the background begins (OrderSearch).
//
// Not synchronized: for the OrderPredictor's thread. Results of searches are posted to the queue. What all tries cost
// is bounded by TryBudget.
class OrderFinder {
 public:
  // They outlive it. The events of `queue` run on the thread of the finder.
  struct Parts {
    JobTable& jobs;
    const EpochWatch& watch;
    SampleLists& lists;
    Hints& hints;
    Searcher& searcher;
    AccessQueue& queue;
    OrderHandover& handover;
    ReplayStore* runs = nullptr;  // nullptr: no runs are recorded
  };

  // All samplers of the registry, and before them the order of the list itself.
  static std::shared_ptr<const std::vector<KnownSampler>> AllKnown();

  // `options`: with a clock, and with known samplers. `found`: called with each order that was found, within the calls
  // of the finder and of the events that it posts. It must not erase jobs.
  OrderFinder(const Parts& parts, const OrderPredictorOptions& options,
              std::function<void(TrackedJob&, IdentifiedOrder)> found);
  OrderFinder(const OrderFinder&) = delete;
  OrderFinder& operator=(const OrderFinder&) = delete;

  // Makes the tries that are due. To be called after each few accesses.
  void TryAll();
  // The pass of the job, whose order is not known, agrees with no hint; `searching`: the stream of a hint may still
  // have its seed.
  void DenyHints(const TrackedJob& job, bool searching);
  // Searches for the place where the script's own generator drew the seed of this pass: it tells all later seeds. The
  // job's prediction and the hints get the result. A search for an earlier seed of the job ends without one.
  void SearchStreams(const TrackedJob& job, uint32_t seed, uint32_t pass);
  // The job has ended, and its search of streams with it.
  void EndJob(JobId job);

 private:
  void Try(TrackedJob& job);
  std::optional<IdentifiedOrder> Find(TrackedJob& job, const EpochStart& epoch);
  std::optional<IdentifiedOrder> FindUnattributed(const TrackedJob& job, const EpochStart& epoch) const;
  std::optional<IdentifiedOrder> FindHinted(const TrackedJob& job, const EpochStart& epoch);
  std::optional<IdentifiedOrder> FindByReads(TrackedJob& job, const EpochStart& epoch);
  SearchRequest RequestOf(const TrackedJob& job, const EpochStart& epoch);
  std::vector<CandidateScorer> TestsOf(const EpochStart& epoch);
  void BeginSearch(TrackedJob& job, SearchRequest request, uint64_t reads);
  void TakeResult(JobId id, uint64_t search, uint64_t reads, std::optional<IdentifiedOrder> found);
  void TakePlaces(JobId id, uint32_t pass, const std::vector<uint32_t>& hinted, std::vector<StreamPosition> places);
  void Fail(TrackedJob& job, uint64_t reads);

  // Constant after construction.
  const Parts parts_;
  const std::function<uint64_t()> clock_us_;
  const std::function<double()> thread_seconds_;
  const std::shared_ptr<const std::vector<KnownSampler>> known_;
  const std::vector<Guess> recorded_;  // how the recorded runs may go on
  const std::function<void(TrackedJob&, IdentifiedOrder)> found_;

  TryBudget budget_;
  uint64_t searches_ = 0;                                // begun so far
  std::unordered_map<JobId, uint64_t> stream_searches_;  // the last one of each job, by its number at the Searcher
};

}  // namespace augur
