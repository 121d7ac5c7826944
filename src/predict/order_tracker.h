// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "augur/store.h"
#include "control/statistics.h"
#include "datasets/sample_lists.h"
#include "predict/access_queue.h"
#include "predict/ask_budget.h"
#include "predict/forecast_publisher.h"
#include "predict/hints.h"
#include "predict/hot_data_pause.h"
#include "predict/job_predictor.h"
#include "predict/next_epochs.h"
#include "predict/order_predictor_options.h"
#include "predict/order_search.h"
#include "predict/prediction_status.h"
#include "predict/run_recorder.h"
#include "prefetch/predicted_orders.h"
#include "readers/epochs.h"
#include "readers/proc_source.h"
#include "recorded_runs/replay_store.h"
#include "samplers/known_samplers.h"
#include "samplers/sampler_description.h"
#include "seed_search/searcher.h"

namespace augur {

// OrderTracker works out the orders of all jobs. It watches who reads what (EpochWatch), searches for the order of each
// epoch that nothing predicted (OrderSearch), follows the orders that it has (JobPredictor), and tells the prefetch the
// coming reads of all jobs. FORESEE.md tells how it decides.
//
// Not synchronized: the OrderPredictor's thread owns it. Results of searches are posted to the queue, and the events of
// each batch call it back. REQUIRES: what it is given outlives it, and the events of the queue run on the same thread.
class OrderTracker {
 public:
  // `options`: with a clock. `runs`: nullptr: no runs are recorded.
  OrderTracker(std::shared_ptr<const Store> store, PredictedOrders& orders, Statistics& statistics,
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
  static constexpr const char* kHotText = "all files come from memory";
  // An epoch is asked for after so many reads, and each time they have doubled.
  static constexpr uint64_t kReadsToAsk = 3;

  // A job, and the question that is open for it.
  struct Job {
    Job(JobId id, const RunRecorder::Options& record) : prediction(id), recorder(record) {}
    void AskAnew() {
      reads_to_ask = kReadsToAsk;
      reads_held = 0;
      seeds_held = 0;
      recalled.clear();
    }
    // Its question is not of interest any more.
    void DropInquiry() {
      if (inquiry) inquiry->Cancel();
      inquiry.reset();
    }
    JobPredictor prediction;
    std::shared_ptr<OrderSearch> inquiry;
    uint64_t question = 0;                       // number of the inquiry
    uint64_t reads_to_ask = 0;                   // the next question waits for so many reads of the epoch
    uint64_t reads_held = 0;                     // that guesses were held against in the last one
    uint64_t seeds_held = 0;                     // ... when there were enough to tell the seeds of a script
    uint64_t inquiry_since = 0;                  // reads, when the inquiry began
    uint64_t reads = 0;                          // of it
    double asked_seconds = 0;                    // processor time of its questions on the OrderPredictor's thread
    uint32_t passes_locked = 0;                  // of the job's passes, those whose order was known
    bool search_failed = false;                  // the last search of all seeds found nothing
    std::shared_ptr<SearchAllowance> allowance;  // of its searches
    std::vector<EntryNumber> recalled;           // files by which a recorded run was looked for in vain
    bool read = false;                           // there was a READ that names it
    RunRecorder recorder;
    std::string state;        // what is not understood
    int64_t known_since = 0;  // seconds since 1970, of the order that is known now
  };

  uint64_t NowUs() const { return options_.clock_us(); }
  void TakeAccess(const Access& access);
  void TakeGap(uint64_t dropped);
  Job& JobOf(JobId id);
  Job& OwnerOf(const EpochWatch::Seen& seen, bool read);
  void TakeEvents();
  static void AddUnnamed(const JobPredictor& job, EpochStart* epoch);
  uint64_t ReadsKept(const Job& job) const;
  std::optional<EpochStart> Asked(const Job& job) const;
  std::vector<CandidateScorer> TestsOf(const EpochStart& epoch);
  static bool AsksSeeds(const EpochStart& epoch, uint64_t held, bool decidable, Job* job);
  void AskAll();
  void Ask(Job& job);
  void AskAbout(Job& job, const EpochStart& epoch);
  double ThreadSeconds() const;
  bool AskLost(Job& job, const EpochStart& epoch);
  bool AskUnnamed(Job& job, const EpochStart& epoch);
  bool AskKnown(Job& job, const EpochStart& epoch, const IdentifiedOrder& known, uint32_t begin);
  const Job* Unnamed() const;
  void ForgetDouble();
  bool AskHints(Job& job, const EpochStart& epoch, uint64_t reads);
  void DenyHints(const Job& job, bool searching);
  bool AskReplay(Job& job, const EpochStart& epoch);
  void Answer(JobId id, uint64_t question, uint64_t reads, std::optional<IdentifiedOrder> finding);
  void Found(Job& job, uint64_t reads, std::optional<IdentifiedOrder> finding);
  void Lock(Job& job, IdentifiedOrder finding);
  void Unlocked(Job& job);
  void MarkPass(Job& job) const;
  void SearchStreams(Job& job, uint32_t seed, uint32_t pass);
  void TakePlaces(JobId id, uint32_t pass, const std::vector<uint32_t>& hinted, std::vector<StreamPosition> places);
  static void RecordSeen(Job& job, const EpochStart* next);
  std::vector<const JobPredictor*> Locked() const;
  void Tell(bool anew);
  void Look();
  bool IsHot() const;
  void LookAtHeat(uint64_t now_us);
  void Pause();
  void Resume(uint64_t now_us);
  Facts MakeFacts() const;
  static std::string StateOf(const Job& job);
  std::vector<OrderReport> MakeReports() const;

  // Constant after construction.
  PredictedOrders& orders_;
  Statistics& statistics_;
  const OrderPredictorOptions options_;
  ReplayStore* const runs_;
  Searcher& searcher_;
  AccessQueue& queue_;
  const std::shared_ptr<const std::vector<KnownSampler>> known_;
  const std::vector<Guess> remembered_;  // of earlier runs of this store

  ProcSource source_;
  ProcessTable processes_;
  EpochWatch watch_;
  SampleLists lists_;
  std::unordered_map<JobId, std::unique_ptr<Job>> jobs_;
  Hints hints_;
  std::string ended_;  // what was known of the last job that has ended, until something else is found
  AskBudget budget_;
  uint64_t questions_ = 0;
  HotDataPause pause_;  // while data is hot and no order is known: there are no jobs
  ForecastPublisher forecast_;
  uint64_t looked_us_ = 0;
};

}  // namespace augur
