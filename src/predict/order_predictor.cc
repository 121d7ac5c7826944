// SPDX-License-Identifier: Apache-2.0
#include "predict/order_predictor.h"

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX's

#include <algorithm>
#include <future>

#include "base/limited_log.h"
#include "base/thread.h"
#include "predict/recognize_run.h"
#include "samplers/torch_recipes.h"

namespace augur {
namespace {

// Look is called as often while accesses come.
constexpr uint64_t kLookEveryUs = 500'000;

// CLOCK_BOOTTIME, to which start times of processes refer.
uint64_t BootTimeUs() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

// A search that an epoch's end broke off sooner has not failed.
constexpr uint64_t kReadsToFail = 128;

// A list that is read as it is, before all shuffles: a validation set, or a list that the script has shuffled itself.
std::vector<KnownSampler> AllKnown() {
  std::vector<KnownSampler> known = KnownSamplers();
  TorchRecipe recipe = FreshSeedRecipe("in the order of the list", 0, 0);
  recipe.draw = TorchRecipe::Draw::kNone;
  known.insert(known.begin(), {.sampler = MakeTorchSampler(std::move(recipe)), .epochs = 1});
  return known;
}

SampleListLimits ListLimits(const OrderPredictorOptions& options) {
  SampleListLimits limits;
  limits.list_bytes_max = PredictionFiles(options.memory_bytes) * sizeof(EntryNumber);
  limits.cache_bytes_max = std::min(limits.cache_bytes_max, options.memory_bytes / 4);
  return limits;
}

}  // namespace

OrderPredictor::OrderPredictor(std::shared_ptr<const Store> store, PredictedOrders& orders, Statistics& statistics,
                               OrderPredictorOptions options)
    : store_(std::move(store)),
      orders_(orders),
      statistics_(statistics),
      options_(std::move(options)),
      processes_(options_.processes != nullptr ? options_.processes : &source_),
      watch_(&processes_),
      lists_(store_, ListLimits(options_)),
      known_(options_.known ? options_.known : std::make_shared<const std::vector<KnownSampler>>(AllKnown())),
      pause_(store_->summary(), statistics, options_.fetched_files),
      forecast_(orders),
      queue_(options_.accesses_max, statistics) {}

OrderPredictor::~OrderPredictor() { Stop(); }

Status OrderPredictor::Start() {
  AUGUR_TRY_ASSIGN(searcher,
                   Searcher::Start({.threads = options_.search_threads, .idle_class = options_.search_idle_class}));
  searcher_ = std::move(searcher);
  if (!options_.replay_folder.empty()) {
    ReplayLimits limits;
    limits.load_bytes_max = RunRecorder::BytesMax(PredictionFiles(options_.memory_bytes));
    Result<std::unique_ptr<ReplayStore>> replay = ReplayStore::Open(options_.replay_folder, store_->summary(), limits);
    if (replay.ok()) {
      replay_ = std::move(replay).value();
      remembered_ = ContinuationsOf(*replay_);
    } else {
      spdlog::info("orders are not remembered from run to run: {}", replay.status().text());
    }
  }
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-predict", [this] { Run(); }));
  thread_ = std::move(thread);
  return Status::Ok();
}

void OrderPredictor::Stop() {
  queue_.Stop();
  if (thread_.joinable()) thread_.join();
  searcher_.reset();
}

void OrderPredictor::SawRead(uint32_t view, EntryNumber file, uint32_t reader) {
  queue_.AddRead(view, file, reader, NowUs());
}

void OrderPredictor::SawOpened(uint32_t view, std::span<const EntryNumber> files) {
  queue_.AddOpens(view, files, NowUs());
}

void OrderPredictor::AddHint(SamplerDescription hint) {
  queue_.Post([this, hint = std::make_shared<SamplerDescription>(std::move(hint))] {
    std::unordered_map<JobId, uint32_t> running;
    for (auto& [id, job] : jobs_) {
      if (const std::optional<EpochStart> epoch = watch_.Running(id)) running[id] = epoch->pass;
      job->AskAnew();
    }
    hints_.Add(std::move(*hint), std::move(running));
  });
}

std::vector<std::pair<std::string, std::string>> OrderPredictor::Describe() const {
  const MutexLock lock(mu_);
  return facts_;
}

uint64_t OrderPredictor::NowUs() const { return options_.clock_us ? options_.clock_us() : BootTimeUs(); }

// What is told is taken in after the events that are there with it: the second one comes after all of it.
void OrderPredictor::Flush() {
  for (int i = 0; i < 2; ++i) {
    const auto taken = std::make_shared<std::promise<void>>();
    queue_.Post([taken] { taken->set_value(); });
    taken->get_future().wait();
  }
}

void OrderPredictor::Run() {
  AccessQueue::Batch batch;
  while (queue_.Take(pause_.paused(), &batch)) {
    for (const std::function<void()>& event : batch.events) event();
    pause_.Count(batch.accesses.size());
    for (const Access& access : batch.accesses) pause_.paused() ? pause_.Keep(access) : Take(access);
    if (batch.dropped > 0) TakeGap(batch.dropped);
    const uint64_t now_us = NowUs();
    if (batch.accesses.empty() || now_us - looked_us_ > kLookEveryUs) Look();
    LookAtHeat(now_us);
    if (!IsHot()) AskAll();
    ForgetDouble();
    Publish();
  }
  // A mount that is taken away as soon as the script has ended does not see its processes go.
  if (!pause_.paused()) std::ranges::for_each(batch.accesses, [this](const Access& access) { Take(access); });
  if (batch.dropped > 0) TakeGap(batch.dropped);
  for (auto& [id, job] : jobs_) {
    if (job->inquiry) job->inquiry->Cancel();
    RecordSeen(*job, nullptr);
  }
}

OrderPredictor::Job& OrderPredictor::JobOf(JobId id) {
  std::unique_ptr<Job>& job = jobs_[id];
  if (!job) {
    const uint64_t files_max = PredictionFiles(options_.memory_bytes);
    job = std::make_unique<Job>(id,
                                RunRecorder::Options{.runs = replay_.get(), .lists = &lists_, .files_max = files_max});
    job->AskAnew();
    job->allowance = std::make_shared<SearchAllowance>(options_.search_core_seconds_max);
  }
  return *job;
}

// Whose a read is. A READ names its job. An open that the page cache served does not. It is the job's that is to read
// the file soonest, if that is about as soon as its readers are apart; what comes by chance that near to one of several
// jobs is mostly another's, as long as there is one whose order is not known.
OrderPredictor::Job& OrderPredictor::OwnerOf(const EpochWatch::Seen& seen, bool read) {
  if (read) {
    Job& job = JobOf(seen.job);
    job.read = true;
    return job;
  }
  Job* owner = nullptr;
  uint64_t least = 0;
  Job* unlocked = nullptr;
  size_t unlocked_jobs = 0;
  for (auto& [id, job] : jobs_) {
    if (!job->prediction.locked()) {
      if (id == 0 && !job->read) continue;
      unlocked = job.get();
      ++unlocked_jobs;
      continue;
    }
    const std::optional<uint64_t> away = job->prediction.Expects(seen.file);
    if (!away || (owner != nullptr && *away >= least)) continue;
    owner = job.get();
    least = *away;
  }
  if (owner != nullptr && (unlocked_jobs == 0 || least <= owner->prediction.follower().apart())) return *owner;
  return seen.job == 0 && unlocked_jobs == 1 ? *unlocked : JobOf(seen.job);
}

void OrderPredictor::Take(const Access& access) {
  const std::optional<EpochWatch::Seen> seen = watch_.See(access);
  TakeEvents();
  // The other half of a read that was taken already, whoever expects the file.
  if (!seen || seen->again) return;
  Job* const owner = &OwnerOf(*seen, access.read);
  ++owner->reads;
  const StreamId stream = seen->job == owner->prediction.id() ? seen->stream : 0;
  if (!owner->prediction.locked()) owner->recorder.Saw(access.file);
  switch (owner->prediction.Saw(access.file, stream, !access.read, access.view)) {
    case JobPredictor::Told::kNothing: return;
    case JobPredictor::Told::kTurned: return Tell(true);
    case JobPredictor::Told::kRolled:
      hints_.Agree(owner->prediction.id(), owner->prediction.finding());
      owner->recorder.RecordKnown(owner->prediction.finding());
      return Tell(false);
    case JobPredictor::Told::kLost:
      LogLimited(spdlog::level::info, "lost orders", owner->prediction.Describe(),
                 "the reads are no longer as predicted: " + owner->prediction.Describe());
      return Unlocked(*owner);
    case JobPredictor::Told::kEnded:
      // The prefetch comes to the end of it by itself: the last files are still to be read.
      forecast_.Forget();
      owner->AskAnew();
      MarkPass(*owner);
      if (forecast_.several()) Tell(true);
      return;
  }
}

// So many accesses come now that nobody has seen. They may be anybody's. A known order goes on: it is lost by the
// reads behind the gap, and then looked for from where they are.
void OrderPredictor::TakeGap(uint64_t dropped) {
  pause_.Count(dropped);
  watch_.Missed(dropped, NowUs());
  for (auto& [id, job] : jobs_) job->recorder.Missed();
}

void OrderPredictor::TakeEvents() {
  for (const EpochWatch::Event& event : watch_.TakeEvents()) {
    if (event.what == EpochWatch::What::kEnded) {
      const auto job = jobs_.find(event.job);
      if (job == jobs_.end()) continue;
      job->second->DropInquiry();
      RecordSeen(*job->second, nullptr);
      if (std::string known = job->second->prediction.Describe(); !known.empty()) ended_ = std::move(known);
      const bool was_locked = job->second->prediction.locked();
      jobs_.erase(job);
      hints_.Ended(event.job);
      if (was_locked) Tell(true);
      continue;
    }
    if (event.what != EpochWatch::What::kBegun) continue;
    Job& job = JobOf(event.job);
    if (job.prediction.locked()) continue;
    const std::optional<EpochStart> epoch = watch_.Running(event.job);
    if (epoch) {
      RecordSeen(job, &*epoch);
      job.prediction.Begin(*epoch);
    }
    job.AskAnew();
    if (job.inquiry && job.inquiry->searched() && job.reads - job.inquiry_since >= kReadsToFail) {
      // A search that takes longer than an epoch never comes to its end.
      job.search_failed = true;
    }
    job.DropInquiry();
  }
}

void OrderPredictor::RecordSeen(Job& job, const EpochStart* next) {
  if (!job.prediction.locked()) job.recorder.RecordSeen(next);
}

// The predictions of the jobs whose orders are known.
std::vector<const JobPredictor*> OrderPredictor::Locked() const {
  std::vector<const JobPredictor*> locked;
  for (const auto& [id, job] : jobs_) {
    if (job->prediction.locked() && locked.size() < ForecastPublisher::kLanesMax) locked.push_back(&job->prediction);
  }
  return locked;
}

void OrderPredictor::Tell(bool anew) { forecast_.Tell(Locked(), anew, NowUs()); }

// Now and then: jobs that have gone, lanes that have come apart.
void OrderPredictor::Look() {
  looked_us_ = NowUs();
  watch_.Tick(looked_us_);
  TakeEvents();
  if (forecast_.IsStale(Locked())) Tell(true);
}

// A hint of the user is tried on hot data, too.
bool OrderPredictor::IsHot() const { return pause_.hot() && hints_.empty(); }

void OrderPredictor::LookAtHeat(uint64_t now_us) {
  const DataHeat::Turn turn = pause_.Look(now_us);
  if (pause_.paused() && !IsHot()) {
    Resume(now_us);
  } else if (turn == DataHeat::Turn::kCold) {
    for (auto& [id, job] : jobs_) job->AskAnew();
  }
  if (pause_.paused() || !IsHot()) return;
  for (auto& [id, job] : jobs_) job->DropInquiry();
  // A known order is followed on, by the opens of its files.
  if (Locked().empty()) Pause();
}

// Ends all jobs: their opens are not seen from now on.
void OrderPredictor::Pause() {
  for (auto& [id, job] : jobs_) {
    RecordSeen(*job, nullptr);
    if (std::string known = job->prediction.Describe(); !known.empty()) ended_ = std::move(known);
    hints_.Ended(id);
  }
  jobs_.clear();
  watch_.ForgetAll();
  Tell(true);
  pause_.Begin();
  orders_.NeedOpens(false);
  LogLimited(spdlog::level::info, "hot data", "asleep", std::string("orders are not looked for: ") + kHotText);
}

void OrderPredictor::Resume(uint64_t now_us) {
  orders_.NeedOpens(true);
  LogLimited(spdlog::level::info, "hot data", "awake", "orders are looked for again: files are fetched from the disk");
  for (const Access& access : pause_.End(now_us)) Take(access);
}

// What keeps its order from being known; empty: nothing.
std::string OrderPredictor::StateOf(const Job& job) {
  if (job.inquiry) return job.inquiry->Describe();
  return job.prediction.locked() ? "" : job.state;
}

std::vector<OrderReport> OrderPredictor::MakeReports() const {
  std::vector<OrderReport> reports;
  for (const auto& [id, job] : jobs_) {
    const bool known = job->prediction.locked();
    std::string text = known ? job->prediction.Describe() : StateOf(*job);
    if (!known && text.empty()) text = IsHot() ? std::string("not looked for: ") + kHotText : "too few reads so far";
    if (!known && !job->prediction.Describe().empty()) text += "; before that: " + job->prediction.Describe();
    reports.push_back({.job = id,
                       .state = known ? OrderReport::State::kKnown : OrderReport::State::kSought,
                       .since = known ? job->known_since : 0,
                       .text = std::move(text)});
  }
  if (pause_.paused()) {
    reports.push_back({.job = 0, .state = OrderReport::State::kNotSought, .since = 0, .text = kHotText});
  }
  if (!ended_.empty()) reports.push_back({.job = 0, .state = OrderReport::State::kEnded, .since = 0, .text = ended_});
  std::ranges::sort(reports, {}, [](const OrderReport& report) { return std::pair(report.state, report.job); });
  return reports;
}

std::vector<OrderReport> OrderPredictor::Reports() const {
  const MutexLock lock(mu_);
  return reports_;
}

void OrderPredictor::Publish() {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [id, job] : jobs_) {
    const std::string name = jobs_.size() == 1 ? "predicted" : "predicted_job_" + std::to_string(id);
    std::string text = StateOf(*job);
    // What is known first, then what is still searched for; or the other way round.
    std::string known = job->prediction.Describe();
    const bool locked = job->prediction.locked();
    if (!locked && !known.empty()) known.insert(0, "nothing now; last: ");
    std::string& first = locked ? known : text;
    const std::string& second = locked ? text : known;
    if (!first.empty() && !second.empty()) first += "; ";
    first += second;
    if (!first.empty()) facts.emplace_back(name, std::move(first));
  }
  if (pause_.paused())
    facts.emplace_back("predicted", std::string("nothing now; orders are not looked for: ") + kHotText);
  if (!ended_.empty()) {
    facts.emplace_back(facts.empty() ? "predicted" : "predicted_last",
                       "nothing now; last, of a job that has ended: " + ended_);
  }
  for (auto& fact : hints_.Describe()) facts.push_back(std::move(fact));
  std::vector<OrderReport> reports = MakeReports();
  const MutexLock lock(mu_);
  facts_ = std::move(facts);
  reports_ = std::move(reports);
}

}  // namespace augur
