// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "base/mutex.h"
#include "control/statistics.h"
#include "control/status_screen.h"
#include "datasets/sample_lists.h"
#include "predict/ask_budget.h"
#include "predict/data_heat.h"
#include "predict/forecast_publisher.h"
#include "predict/hints.h"
#include "predict/job_predictor.h"
#include "predict/order_search.h"
#include "prefetch/predicted_orders.h"
#include "readers/epochs.h"
#include "readers/proc_source.h"
#include "recorded_runs/replay_store.h"
#include "samplers/known_samplers.h"
#include "samplers/sampler_description.h"
#include "seed_search/searcher.h"

namespace augur {

// Memory that lists of so many files take at most. Measured with a million files: 200 bytes a file. Of it 8 are the
// list, 12 each of three epochs' orders, 64 what is recorded, and the rest what comes and goes while an order is made;
// epochs that are twice as long as the list, which samplers with weights may draw, take 40 more. Beside it there are
// the generators of known samplers.
constexpr uint64_t kPredictionBytesAFile = 240;
constexpr uint64_t PredictionBytes(uint64_t files) { return (uint64_t{6} << 20) + kPredictionBytesAFile * files; }
// The other way round.
constexpr uint64_t PredictionFiles(uint64_t bytes) {
  return (bytes - std::min(bytes, PredictionBytes(0))) / kPredictionBytesAFile;
}

// Core-seconds of idle cores that the searches of one run may take without success. When one of them has found a seed,
// the run may take as many again: the next epoch of an unseeded script has another seed. A search of all 2^32 seeds
// takes 30 to 90 core-seconds, and the cheaper stages beside it up to 30 in the first epoch. So 3 * 90 + 30 are three
// of the slowest searches, or nine of the fastest; a processor with vectors of 128 bits only (220 to 270) has one. Two
// idle cores spend them in two and a half minutes.
constexpr double kSearchCoreSecondsMax = 300;

struct OrderPredictorOptions {
  uint64_t memory_bytes = uint64_t{4} << 30;  // for all of it; longer lists than it has room for are not worked with
  unsigned search_threads = 0;                // of the idle class; 0: one a core
  double search_core_seconds_max = kSearchCoreSecondsMax;  // of one run
  std::string replay_folder;                               // where orders that were seen are kept; empty: nowhere
  // Accesses that wait for the OrderPredictor's thread: half a second of 65,000 a second. They take 0.8 MB, and those
  // that are taken in meanwhile as much again.
  size_t accesses_max = 32'768;

  // Made-up ones in tests. Processes are asked about on the OrderPredictor's thread, the clock on any.
  std::function<double()> fetched_files = {};                        // for DataHeat; empty: by the statistics
  bool search_idle_class = true;                                     // false: where no core is ever idle
  ProcessSource* processes = nullptr;                                // nullptr: /proc
  std::function<uint64_t()> clock_us = {};                           // empty: CLOCK_BOOTTIME
  std::function<double()> thread_seconds = {};                       // empty: processor time of the calling thread
  std::shared_ptr<const std::vector<KnownSampler>> known = nullptr;  // nullptr: all that are known
};

// OrderPredictor works out in which order files will be read. It watches who reads what (EpochWatch), asks for the
// order of each epoch that nothing predicted (OrderSearch), follows what was found (JobPredictor), and tells the
// prefetch the coming reads of all jobs. FORESEE.md tells how it decides.
//
// Safe from any thread. All of it is done by one thread of its own, to which accesses and answers are posted; searches
// run on the Searcher's. When that thread is behind by `accesses_max` accesses, further ones are dropped and counted
// (Stat::kAccessesDropped). Then an order may be lost until it is found again, and an epoch whose order is not
// understood is not recorded. REQUIRES: what it is given outlives it.
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

  // A file of a view was read by a thread (0: not known which), or opened by somebody. Does not wait.
  void SawRead(uint32_t view, EntryNumber file, uint32_t reader);
  void SawOpened(uint32_t view, std::span<const EntryNumber> files);
  // The user says how the coming epochs are drawn. Believed before all other guesses, and dropped when it is wrong.
  void AddHint(SamplerDescription hint);

  // Returns when all that was told before has been taken in. REQUIRES: started, and not stopped meanwhile.
  void Flush();

  // For people, what was found and how sure it is: "predicted", and a line for each job.
  std::vector<std::pair<std::string, std::string>> Describe() const;
  // The same job by job, for a screen: running ones first, those whose order is known before the others.
  std::vector<OrderReport> Reports() const;

 private:
  static constexpr const char* kHotText = "all files come from memory";
  // An epoch is asked for after so many reads, and each time they have doubled.
  static constexpr uint64_t kReadsToAsk = 3;

  // A job, and the question that is open for it.
  struct Job {
    explicit Job(JobId id) : prediction(id) {}
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
    Order seen;                                  // of epochs that are not understood, what is not recorded yet
    bool gap = false;                            // accesses were dropped: `seen` has a hole, and is not recorded
    bool cut = false;                            // the last epoch of the record: it may go on
    Run record;
    std::string record_name;
    std::string state;        // what is not understood
    int64_t known_since = 0;  // seconds since 1970, of the order that is known now
  };

  uint64_t NowUs() const;
  void Add(const Access& access) AUGUR_REQUIRES(mu_);
  void Post(std::function<void()> event);
  void Run();

  // The thread's own:
  void Take(const Access& access);
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
  void Remember();
  bool AskReplay(Job& job, const EpochStart& epoch);
  bool Recall(Job& job, const EpochStart& epoch, const ReplayMatch& match);
  void Answer(JobId id, uint64_t question, uint64_t reads, std::optional<IdentifiedOrder> finding);
  void Found(Job& job, uint64_t reads, std::optional<IdentifiedOrder> finding);
  void Lock(Job& job, IdentifiedOrder finding);
  void Unlocked(Job& job);
  void MarkPass(Job& job) const;
  void SearchChain(Job& job, const IdentifiedOrder& finding, uint32_t pass);
  void Record(Job& job);
  void RecordSeen(Job& job, const EpochStart* next);
  void SaveRecord(Job& job);
  bool Record(Job& job, Order files);
  // Of the orders of one run, kept or recalled.
  uint64_t RecordBytesMax() const;
  bool HasRoom(const Job& job, uint64_t files) const;
  std::vector<const JobPredictor*> Locked() const;
  void Tell(bool anew);
  void Look();
  double FetchedFiles() const;
  bool IsHot() const;
  void LookAtHeat(uint64_t now_us);
  void FallAsleep();
  void Awake(uint64_t now_us);
  void SetAsleep(bool asleep);
  void TakeWhileAsleep(const Access& access);
  void Publish();
  static std::string StateOf(const Job& job);
  std::vector<OrderReport> MakeReports() const;

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  PredictedOrders& orders_;
  Statistics& statistics_;
  const OrderPredictorOptions options_;

  // Used by the thread only.
  ProcSource source_;
  ProcessTable processes_;
  EpochWatch watch_;
  SampleLists lists_;
  std::shared_ptr<const std::vector<KnownSampler>> known_;
  std::unique_ptr<ReplayStore> replay_;
  std::unordered_map<JobId, std::unique_ptr<Job>> jobs_;
  Hints hints_;
  std::vector<Guess> remembered_;  // of earlier runs of this store
  std::string ended_;              // what was known of the last job that has ended, until something else is found
  AskBudget budget_;
  uint64_t questions_ = 0;
  DataHeat heat_;
  uint64_t sighted_ = 0;       // accesses so far
  bool asleep_ = false;        // data is hot and no order is known: there are no jobs
  std::deque<Access> lately_;  // asleep: the last ones
  ForecastPublisher forecast_;
  uint64_t looked_us_ = 0;

  mutable Mutex mu_;
  CondVar posted_;
  std::vector<Access> accesses_ AUGUR_GUARDED_BY(mu_);   // accesses_max at most
  uint64_t accesses_dropped_ AUGUR_GUARDED_BY(mu_) = 0;  // behind the last of them
  // Not from readers: an answer of each search, of which a job has two under way at most, and a hint a request of the
  // control socket.
  std::deque<std::function<void()>> events_ AUGUR_GUARDED_BY(mu_);
  bool stopping_ AUGUR_GUARDED_BY(mu_) = false;
  bool unhurried_ AUGUR_GUARDED_BY(mu_) = false;  // asleep: a few accesses wait for kLookEvery
  std::vector<std::pair<std::string, std::string>> facts_ AUGUR_GUARDED_BY(mu_);
  std::vector<OrderReport> reports_ AUGUR_GUARDED_BY(mu_);

  std::unique_ptr<Searcher> searcher_;
  std::thread thread_;
};

}  // namespace augur
