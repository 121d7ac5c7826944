// SPDX-License-Identifier: Apache-2.0
#include "predict/order_tracker.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <span>
#include <utility>

#include "base/limited_log.h"
#include "base/thread.h"
#include "predict/epoch_reads.h"
#include "predict/recognize_run.h"
#include "predict/stream_search.h"
#include "predict/try_known_samplers.h"
#include "samplers/torch_recipes.h"
#include "seed_search/running_job.h"

namespace augur {
namespace {

// Look is called as often while accesses come.
constexpr uint64_t kLookEveryUs = 500'000;

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

constexpr size_t kListsMax = 8;
// The seeds of a script are set once: what costs a tenth of a second is tried in the first passes of a job only; and
// once there were reads enough to tell it, once more, in case that the first of them were not the job's.
constexpr uint32_t kPassesOfSeeds = 2;
constexpr uint64_t kReadsToAskSeedsAgain = 8;  // times as many
// Of what a job has read. A job that is not understood may have read millions, and this is done for each few reads.
constexpr size_t kReadsLookedAt = 4096;

}  // namespace

OrderTracker::OrderTracker(std::shared_ptr<const Store> store, PredictedOrders& orders, Statistics& statistics,
                           const OrderPredictorOptions& options, ReplayStore* runs, Searcher& searcher,
                           AccessQueue& queue)
    : orders_(orders),
      statistics_(statistics),
      options_(options),
      runs_(runs),
      searcher_(searcher),
      queue_(queue),
      known_(options.known ? options.known : std::make_shared<const std::vector<KnownSampler>>(AllKnown())),
      remembered_(runs != nullptr ? ContinuationsOf(*runs) : std::vector<Guess>()),
      processes_(options.processes != nullptr ? options.processes : &source_),
      watch_(&processes_),
      lists_(store, ListLimits(options)),
      pause_(store->summary(), statistics, options.fetched_files),
      forecast_(orders) {}

void OrderTracker::AddHint(SamplerDescription hint) {
  std::unordered_map<JobId, uint32_t> running;
  for (auto& [id, job] : jobs_) {
    if (const std::optional<EpochStart> epoch = watch_.Running(id)) running[id] = epoch->pass;
    job->AskAnew();
  }
  hints_.Add(std::move(hint), std::move(running));
}

void OrderTracker::Take(const AccessQueue::Batch& batch) {
  pause_.Count(batch.accesses.size());
  for (const Access& access : batch.accesses) paused() ? pause_.Keep(access) : TakeAccess(access);
  if (batch.dropped > 0) TakeGap(batch.dropped);
  const uint64_t now_us = NowUs();
  if (batch.accesses.empty() || now_us - looked_us_ > kLookEveryUs) Look();
  LookAtHeat(now_us);
  if (!IsHot()) AskAll();
  ForgetDouble();
}

// A mount that is taken away as soon as the script has ended does not see its processes go.
void OrderTracker::Finish(const AccessQueue::Batch& batch) {
  if (!paused()) std::ranges::for_each(batch.accesses, [this](const Access& access) { TakeAccess(access); });
  if (batch.dropped > 0) TakeGap(batch.dropped);
  for (auto& [id, job] : jobs_) {
    if (job->inquiry) job->inquiry->Cancel();
    RecordSeen(*job, nullptr);
  }
}

OrderTracker::Job& OrderTracker::JobOf(JobId id) {
  std::unique_ptr<Job>& job = jobs_[id];
  if (!job) {
    const uint64_t files_max = PredictionFiles(options_.memory_bytes);
    job = std::make_unique<Job>(id, RunRecorder::Options{.runs = runs_, .lists = &lists_, .files_max = files_max});
    job->AskAnew();
    job->allowance = std::make_shared<SearchAllowance>(options_.search_core_seconds_max);
  }
  return *job;
}

// Whose a read is. A READ names its job. An open that the page cache served does not. It is the job's that is to read
// the file soonest, if that is about as soon as its readers are apart; what comes by chance that near to one of several
// jobs is mostly another's, as long as there is one whose order is not known.
OrderTracker::Job& OrderTracker::OwnerOf(const EpochWatch::Seen& seen, bool read) {
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

void OrderTracker::TakeAccess(const Access& access) {
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
void OrderTracker::TakeGap(uint64_t dropped) {
  pause_.Count(dropped);
  watch_.Missed(dropped, NowUs());
  for (auto& [id, job] : jobs_) job->recorder.Missed();
}

void OrderTracker::TakeEvents() {
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

void OrderTracker::RecordSeen(Job& job, const EpochStart* next) {
  if (!job.prediction.locked()) job.recorder.RecordSeen(next);
}

// The predictions of the jobs whose orders are known.
std::vector<const JobPredictor*> OrderTracker::Locked() const {
  std::vector<const JobPredictor*> locked;
  for (const auto& [id, job] : jobs_) {
    if (job->prediction.locked() && locked.size() < ForecastPublisher::kLanesMax) locked.push_back(&job->prediction);
  }
  return locked;
}

void OrderTracker::Tell(bool anew) { forecast_.Tell(Locked(), anew, NowUs()); }

// Now and then: jobs that have gone, lanes that have come apart.
void OrderTracker::Look() {
  looked_us_ = NowUs();
  watch_.Tick(looked_us_);
  TakeEvents();
  if (forecast_.IsStale(Locked())) Tell(true);
}

// A hint of the user is tried on hot data, too.
bool OrderTracker::IsHot() const { return pause_.hot() && hints_.empty(); }

void OrderTracker::LookAtHeat(uint64_t now_us) {
  const DataHeat::Turn turn = pause_.Look(now_us);
  if (paused() && !IsHot()) {
    Resume(now_us);
  } else if (turn == DataHeat::Turn::kCold) {
    for (auto& [id, job] : jobs_) job->AskAnew();
  }
  if (paused() || !IsHot()) return;
  for (auto& [id, job] : jobs_) job->DropInquiry();
  // A known order is followed on, by the opens of its files.
  if (Locked().empty()) Pause();
}

// Ends all jobs: their opens are not seen from now on.
void OrderTracker::Pause() {
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

void OrderTracker::Resume(uint64_t now_us) {
  orders_.NeedOpens(true);
  LogLimited(spdlog::level::info, "hot data", "awake", "orders are looked for again: files are fetched from the disk");
  for (const Access& access : pause_.End(now_us)) TakeAccess(access);
}

// What keeps its order from being known; empty: nothing.
std::string OrderTracker::StateOf(const Job& job) {
  if (job.inquiry) return job.inquiry->Describe();
  return job.prediction.locked() ? "" : job.state;
}

std::vector<OrderReport> OrderTracker::MakeReports() const {
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
  if (paused()) {
    reports.push_back({.job = 0, .state = OrderReport::State::kNotSought, .since = 0, .text = kHotText});
  }
  if (!ended_.empty()) reports.push_back({.job = 0, .state = OrderReport::State::kEnded, .since = 0, .text = ended_});
  std::ranges::sort(reports, {}, [](const OrderReport& report) { return std::pair(report.state, report.job); });
  return reports;
}

Facts OrderTracker::MakeFacts() const {
  Facts facts;
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
  if (paused()) facts.emplace_back("predicted", std::string("nothing now; orders are not looked for: ") + kHotText);
  if (!ended_.empty()) {
    facts.emplace_back(facts.empty() ? "predicted" : "predicted_last",
                       "nothing now; last, of a job that has ended: " + ended_);
  }
  for (auto& fact : hints_.Describe()) facts.push_back(std::move(fact));
  return facts;
}

PredictionStatus OrderTracker::Describe() const { return {.facts = MakeFacts(), .reports = MakeReports()}; }

// Where most of the running pass was predicted, its first reads are no question any more: their answer is the order
// that has ended or was lost.
void OrderTracker::MarkPass(Job& job) const {
  const std::optional<EpochStart> epoch = watch_.Running(job.prediction.id());
  if (!epoch) return;
  if (AllReadsOf(*epoch) > 4 * (job.prediction.reads().size() + kReadsToAsk)) {
    job.passes_locked = std::max(job.passes_locked, epoch->pass + 1);
  }
}

void OrderTracker::Unlocked(Job& job) {
  MarkPass(job);
  job.AskAnew();
  job.state.clear();
  statistics_.Add(Stat::kOrdersLost, 1);
  Tell(true);
}

// The opens that are this job's because they can be nobody else's: the watch does not know that.
void OrderTracker::AddUnnamed(const JobPredictor& job, EpochStart* epoch) {
  if (job.id() == 0 || std::ranges::any_of(epoch->streams, [](const EpochStream& stream) { return stream.id == 0; })) {
    return;
  }
  EpochStream unattributed;
  const std::span<const JobPredictor::Read> reads = job.reads();
  for (const JobPredictor::Read& read : reads.first(std::min(reads.size(), kReadsLookedAt))) {
    if (read.stream == 0) unattributed.reads.push_back({.file = read.file});
  }
  unattributed.read_count = unattributed.reads.size();
  if (!unattributed.reads.empty()) epoch->streams.push_back(std::move(unattributed));
}

// How many reads Asked would give, about. Each wake asks this, so they are not copied for it.
uint64_t OrderTracker::ReadsKept(const Job& job) const {
  if (job.prediction.locked()) return 0;
  const std::optional<EpochWatch::Kept> kept = watch_.KeptReads(job.prediction.id());
  if (!kept) return 0;
  const uint64_t reads = std::min<uint64_t>(job.prediction.reads().size(), kReadsLookedAt);
  return job.passes_locked > kept->pass ? reads : std::max(kept->reads, reads);
}

// The first reads of the epoch whose order is not known; none where nothing is to be asked.
std::optional<EpochStart> OrderTracker::Asked(const Job& job) const {
  if (job.prediction.locked()) return std::nullopt;
  std::optional<EpochStart> epoch = watch_.Running(job.prediction.id());
  if (!epoch) return epoch;
  if (job.passes_locked <= epoch->pass) {
    AddUnnamed(job.prediction, &*epoch);
    return epoch;
  }
  // Where the reader has gone elsewhere and nobody saw a beginning, what it has read since is all that is known.
  EpochStart unpredicted = job.prediction.Unpredicted();
  unpredicted.pass = epoch->pass;
  unpredicted.epoch = epoch->epoch;
  return unpredicted;
}

// One for each list of samples that has the files that were read.
std::vector<CandidateScorer> OrderTracker::TestsOf(const EpochStart& epoch) {
  std::vector<CandidateScorer> tests;
  const Result<std::vector<std::shared_ptr<const SampleList>>> lists = lists_.Candidates(SeenFiles(epoch), kListsMax);
  if (!lists.ok()) return tests;
  for (const std::shared_ptr<const SampleList>& list : *lists) tests.emplace_back(list, epoch);
  return tests;
}

// Whether what costs a tenth of a second is tried, with so many reads of the pass to hold it against.
bool OrderTracker::AsksSeeds(const EpochStart& epoch, uint64_t held, bool decidable, Job* job) {
  if (epoch.pass >= kPassesOfSeeds) return false;
  const uint64_t held_max = epoch.streams.size() * CandidateScorer::kReadsAStream;
  if (held < std::min(kReadsToAskSeedsAgain * job->seeds_held, held_max)) return false;
  if (decidable) job->seeds_held = held;
  return true;
}

double OrderTracker::ThreadSeconds() const {
  return options_.thread_seconds ? options_.thread_seconds() : std::chrono::duration<double>(ThreadTime()).count();
}

// Whose questions have cost least asks first: where the budget does not reach for all, each job has its part of it.
void OrderTracker::AskAll() {
  if (jobs_.size() == 1) return Ask(*jobs_.begin()->second);
  std::vector<Job*> jobs;
  for (auto& [id, job] : jobs_) {
    if (ReadsKept(*job) >= job->reads_to_ask) jobs.push_back(job.get());
  }
  std::ranges::sort(jobs, {}, &Job::asked_seconds);
  for (Job* const job : jobs) Ask(*job);
}

void OrderTracker::Ask(Job& job) {
  // What nobody could be named for is a job of its own only where somebody reads whose processes cannot be seen.
  if (job.prediction.id() == 0 && !job.read && jobs_.size() > 1) return;
  const uint64_t kept = ReadsKept(job);
  if (kept < job.reads_to_ask || !budget_.MayAsk(NowUs())) return;
  const double begun = ThreadSeconds();
  if (const std::optional<EpochStart> epoch = Asked(job)) {
    job.reads_to_ask = 2 * kept;
    AskAbout(job, *epoch);
  }
  const double seconds = ThreadSeconds() - begun;
  budget_.Pay(seconds);
  job.asked_seconds += seconds;
}

void OrderTracker::AskAbout(Job& job, const EpochStart& epoch) {
  const uint64_t reads = ReadsOf(epoch);
  if (AskLost(job, epoch) || AskUnnamed(job, epoch)) return;
  if (AskHints(job, epoch, reads) || AskReplay(job, epoch)) return;
  const uint64_t held = HeldReadsOf(epoch);
  if (held == std::exchange(job.reads_held, held)) return;  // it would be the same question
  SearchRequest question;
  question.tests = TestsOf(epoch);
  if (question.tests.empty()) return;
  question.expected = job.prediction.Expected(epoch.epoch);
  question.expected.insert(question.expected.end(), remembered_.begin(), remembered_.end());
  const bool pool = std::ranges::any_of(epoch.streams, &EpochStream::pool);
  question.lists_first = pool || job.search_failed;
  for (const EpochStream& stream : epoch.streams) {
    question.ranks = std::max<uint64_t>(question.ranks, stream.launch.world_size);
  }
  const bool decidable = OrderSearch::Decidable(question);
  question.variants = AsksSeeds(epoch, held, decidable, &job);
  question.allowance = job.allowance;
  question.resumed = epoch.pass == 0;
  question.drawn = job.prediction.Drawn();
  std::optional<IdentifiedOrder> answer = TryKnownSamplers(question, *known_);
  if (!answer && question.variants && decidable) answer = AnswerFromStreams(question);
  if (answer) return Found(job, reads, std::move(answer));
  if (job.inquiry || !decidable) return;
  if (job.allowance->spent()) return Found(job, reads, std::nullopt);
  const JobId id = job.prediction.id();
  const uint64_t number = ++questions_;
  job.question = number;
  job.inquiry = std::make_shared<OrderSearch>(
      searcher_, known_, std::move(question), [this, id, number, reads](std::optional<IdentifiedOrder> finding) {
        queue_.Post(
            [this, id, number, reads, found = std::make_shared<std::optional<IdentifiedOrder>>(std::move(finding))] {
              Answer(id, number, reads, std::move(*found));
            });
      });
  job.inquiry_since = job.reads;
  job.inquiry->Begin();
}

// Whether the order that was lost is followed after all: somebody else's reads were taken for the job's, or it has gone
// back to an earlier place. From its beginning it is not that: an epoch is read again, as it will be the next time.
bool OrderTracker::AskLost(Job& job, const EpochStart& epoch) {
  const std::optional<IdentifiedOrder>& lost = job.prediction.lost();
  return lost && AskKnown(job, epoch, *lost, static_cast<uint32_t>(std::min<uint64_t>(lost->begin, ReadsOf(epoch))));
}

// Whether the opens that nobody could be named for, whose order is known, were this job's.
bool OrderTracker::AskUnnamed(Job& job, const EpochStart& epoch) {
  const Job* const unattributed = Unnamed();
  return unattributed != nullptr && unattributed != &job && AskKnown(job, epoch, unattributed->prediction.finding(), 0);
}

// Whether the epoch is the one that was found, from wherever in it, but not before `begin`.
bool OrderTracker::AskKnown(Job& job, const EpochStart& epoch, const IdentifiedOrder& known, uint32_t begin) {
  if (!known.guess.sampler || !known.guess.share.IsAll()) return false;
  const CandidateScorer test(known.list, epoch);
  const CandidateScorer::Midst found = test.TryAnywhere(*known.guess.sampler, known.guess.epoch);
  if (found.bits < CandidateScorer::kBelievedBits || found.begin < begin) return false;
  IdentifiedOrder finding = known;
  finding.begin = found.begin;
  finding.bits = found.bits;
  Lock(job, std::move(finding));
  return true;
}

// Of opens that the page cache served to processes that can be seen, once their order is known; else nullptr.
const OrderTracker::Job* OrderTracker::Unnamed() const {
  const auto unattributed = jobs_.find(0);
  if (unattributed == jobs_.end() || unattributed->second->read || !unattributed->second->prediction.locked())
    return nullptr;
  return unattributed->second.get();
}

// Where a job reads as they were opened, they were its own: nobody reads that order a second time.
void OrderTracker::ForgetDouble() {
  const Job* const unattributed = Unnamed();
  if (unattributed == nullptr) return;
  const Order& files = unattributed->prediction.finding().order->files();
  const bool is_double = std::ranges::any_of(jobs_, [&](const auto& item) {
    const Job& job = *item.second;
    return &job != unattributed && job.prediction.locked() && job.prediction.finding().order->files() == files;
  });
  if (!is_double) return;
  jobs_.erase(0);
  Tell(true);
}

// Whether the epoch is as the user said.
bool OrderTracker::AskHints(Job& job, const EpochStart& epoch, uint64_t reads) {
  if (hints_.empty()) return false;
  if (std::optional<IdentifiedOrder> finding = hints_.Answer(TestsOf(epoch), job.prediction.Expected(epoch.epoch))) {
    Found(job, reads, std::move(finding));
    return true;
  }
  if (reads >= Hints::kReadsToDeny) DenyHints(job, !job.allowance->spent());
  return false;
}

// The epoch that is asked for is not as hinted.
void OrderTracker::DenyHints(const Job& job, bool searching) {
  if (hints_.empty()) return;
  if (const std::optional<EpochStart> epoch = Asked(job)) {
    hints_.Deny(job.prediction.id(), epoch->pass, TestsOf(*epoch), searching);
  }
}

// Whether the epoch is one that was recorded.
bool OrderTracker::AskReplay(Job& job, const EpochStart& epoch) {
  if (!runs_) return false;
  std::optional<IdentifiedOrder> found = RecognizeRun(*runs_, epoch, &job.recalled);
  if (!found) return false;
  Lock(job, std::move(*found));
  return true;
}

void OrderTracker::Answer(JobId id, uint64_t question, uint64_t reads, std::optional<IdentifiedOrder> finding) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second->question != question) return;
  Job& job = *found->second;
  if (!job.inquiry) return;
  const bool searched = job.inquiry->searched();
  job.inquiry.reset();
  if (job.prediction.locked()) return;
  if (!finding && searched) job.search_failed = true;
  if (finding && finding->seed) job.allowance->Renew();
  Found(job, reads, std::move(finding));
}

void OrderTracker::Found(Job& job, uint64_t reads, std::optional<IdentifiedOrder> finding) {
  if (finding) return Lock(job, std::move(*finding));
  job.state = "not understood after " + std::to_string(reads) + " reads";
  if (job.allowance->spent()) {
    job.state += fmt::format("; not searched for any more: the searches of this run have taken {:g} core-seconds",
                             job.allowance->core_seconds());
  }
  if (reads >= Hints::kReadsToDeny) DenyHints(job, false);
}

void OrderTracker::Lock(Job& job, IdentifiedOrder finding) {
  job.DropInquiry();
  if (const std::optional<EpochStart> epoch = Asked(job)) {
    hints_.Found(job.prediction.id(), epoch->pass, finding);
    finding.nth = epoch->epoch;
  }
  if (!hints_.Has(finding.guess)) DenyHints(job, finding.seed.has_value());
  if (!job.prediction.locked()) job.known_since = time(nullptr);
  job.prediction.Lock(std::move(finding));
  if (!job.prediction.locked()) return;
  if (const std::optional<EpochStart> epoch = watch_.Running(job.prediction.id())) job.passes_locked = epoch->pass + 1;
  const IdentifiedOrder& found = job.prediction.finding();
  LogLimited(spdlog::level::info, "found orders", job.prediction.Describe(),
             fmt::format("the order is known: {} ({:.0f} bits against chance)", job.prediction.Describe(), found.bits));
  statistics_.Add(Stat::kOrdersFound, 1);
  ended_.clear();
  job.state.clear();
  job.search_failed = false;
  if (found.seed && found.offset == 0) SearchStreams(job, *found.seed, job.passes_locked - 1);
  job.recorder.RecordKnown(found);
  Tell(true);
}

// Searches for the place where the script's own generator drew the seed of this pass: it tells all later seeds.
void OrderTracker::SearchStreams(Job& job, uint32_t seed, uint32_t pass) {
  const JobId id = job.prediction.id();
  const std::vector<uint32_t> hinted = hints_.StreamSeeds();
  SearchJob search = MakeStreamSearchJob(seed, hinted, [this, id, pass, hinted](std::vector<StreamPosition> places) {
    queue_.Post([this, id, pass, hinted, places = std::move(places)] { TakePlaces(id, pass, hinted, places); });
  });
  search.allowance = job.allowance;
  searcher_.Submit(std::move(search));
}

void OrderTracker::TakePlaces(JobId id, uint32_t pass, const std::vector<uint32_t>& hinted,
                              std::vector<StreamPosition> places) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  for (const uint32_t seed : hinted) {
    const auto place = std::ranges::find(places, seed, &StreamPosition::stream_seed);
    hints_.Searched(id, pass, seed, place == places.end() ? std::nullopt : std::optional(place->position));
  }
  job->second->prediction.SetStreamPlaces(std::move(places));
}

}  // namespace augur
