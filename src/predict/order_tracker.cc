// SPDX-License-Identifier: Apache-2.0
#include "predict/order_tracker.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/limited_log.h"

namespace augur {
namespace {

// Look is called as often while accesses come: as AccessQueue::kWaitMax.
constexpr uint64_t kLookEveryUs = 500'000;

SampleListLimits ListLimits(const OrderPredictorOptions& options) {
  SampleListLimits limits;
  limits.list_bytes_max = PredictionFiles(options.memory_bytes) * sizeof(EntryNumber);
  limits.cache_bytes_max = std::min(limits.cache_bytes_max, options.memory_bytes / 4);
  return limits;
}

}  // namespace

OrderTracker::OrderTracker(const std::shared_ptr<const Store>& store, PredictedOrders& orders, Statistics& statistics,
                           const OrderPredictorOptions& options, ReplayStore* runs, Searcher& searcher,
                           AccessQueue& queue)
    : orders_(orders),
      statistics_(statistics),
      options_(options),
      processes_(options.processes != nullptr ? options.processes : &source_),
      watch_(&processes_),
      lists_(store, ListLimits(options), options.archive_lists),
      jobs_(options.search_core_seconds_max,
            {.runs = runs, .lists = &lists_, .files_max = PredictionFiles(options.memory_bytes)}),
      handover_({.lasting = options.lasting,
                 .lists = lists_,
                 .hints = hints_,
                 .runs = runs,
                 .known = options.known,
                 .files = std::max<uint64_t>(store->summary().file_count, 1)}),
      finder_({.jobs = jobs_,
               .watch = watch_,
               .lists = lists_,
               .hints = hints_,
               .searcher = searcher,
               .queue = queue,
               .handover = handover_,
               .runs = runs},
              options, [this](TrackedJob& job, IdentifiedOrder found) { Follow(job, std::move(found)); }),
      pause_(store->summary(), statistics, options.fetched_files),
      forecast_(orders) {}

// Not before there is work: until then the daemon before may be given hints.
void OrderTracker::TakeOverHints() {
  for (Hints::Earlier& hint : handover_.TakeHints()) hints_.AddEarlier(std::move(hint));
}

void OrderTracker::AddHint(SamplerDescription hint) {
  TakeOverHints();
  std::unordered_map<JobId, uint32_t> running;
  for (const auto& [id, job] : jobs_.all()) {
    if (const std::optional<EpochStart> epoch = watch_.Running(id)) running[id] = epoch->pass;
    job->search.Restart();
  }
  hints_.Add(std::move(hint), std::move(running));
  handover_.WriteHints();
}

void OrderTracker::Take(const AccessQueue::Batch& batch) {
  if (!batch.accesses.empty()) TakeOverHints();
  pause_.Count(batch.accesses.size());
  for (const Access& access : batch.accesses) paused() ? pause_.Keep(access) : TakeAccess(access);
  if (batch.dropped > 0) TakeGap(batch.dropped);
  const uint64_t now_us = NowUs();
  if (batch.accesses.empty() || now_us - looked_us_ > kLookEveryUs) Look();
  LookAtHeat(now_us);
  LookAtGiven();
  if (!IsHot() && !given_) finder_.TryAll();
  if (!batch.accesses.empty()) handover_.Tick(now_us);
  if (jobs_.EraseDouble()) {
    handover_.Leave(0);
    Tell(true);
  }
  handover_.WriteHints();
}

// A mount that is taken away as soon as the script has ended does not see its processes go.
void OrderTracker::Finish(const AccessQueue::Batch& batch) {
  if (!paused()) std::ranges::for_each(batch.accesses, [this](const Access& access) { TakeAccess(access); });
  if (batch.dropped > 0) TakeGap(batch.dropped);
  for (const auto& [id, job] : jobs_.all()) {
    job->search.Cancel();
    job->RecordPass(nullptr);
  }
}

PredictionStatus OrderTracker::Describe() const {
  PredictionStatus status = DescribeJobs(jobs_, IsHot(), paused(), ended_);
  // While all files come from memory there are no jobs, but the script goes on.
  for (OrderReport& report : status.reports) {
    if (report.state == OrderReport::State::kNotSought) report.script = script_;
  }
  for (auto& fact : hints_.Describe()) status.facts.push_back(std::move(fact));
  return status;
}

void OrderTracker::TakeAccess(const Access& access) {
  const std::optional<EpochWatch::PassRead> pass_read = watch_.OnAccess(access);
  TakeEvents();
  // The other half of a read that was taken already, whoever expects the file.
  if (!pass_read || pass_read->again) return;
  TrackedJob& job = jobs_.OwnerOf(*pass_read, access.read);
  job.search.CountRead();
  if (access.read && pass_read->job == job.id()) NoteScript(job, access);
  if (!job.known()) job.recorder.OnRead(access.file);
  const StreamId stream = pass_read->job == job.id() ? pass_read->stream : 0;
  switch (job.prediction.OnRead(access.file, stream, !access.read, access.view)) {
    case JobPredictor::Change::kNothing: return;
    case JobPredictor::Change::kTurned: handover_.Follow(job.id(), job.prediction.running()); return Tell(true);
    case JobPredictor::Change::kRolled:
      handover_.Follow(job.id(), job.prediction.running());
      hints_.Agree(job.id(), job.prediction.running());
      job.recorder.RecordKnown(job.prediction.running());
      return Tell(false);
    case JobPredictor::Change::kLost: return Lose(job);
    case JobPredictor::Change::kEnded:
      // The prefetch comes to the end of it by itself: the last files are still to be read.
      forecast_.Forget();
      job.search.Restart();
      pause_.BeginAnew(NowUs());
      job.MarkPass(watch_);
      if (forecast_.several()) Tell(true);
      return;
  }
}

// EpochWatch has asked for the process a moment ago, so the table has it.
void OrderTracker::NoteScript(TrackedJob& job, const Access& access) {
  const std::shared_ptr<const Process> reader = processes_.Of(access.reader, access.time_us);
  if (reader != nullptr) job.script = script_ = reader->Script().facts.pid;
}

// This number of accesses was dropped unseen. They may be of any job. A known order goes on: it is lost by the reads
// behind the gap, and then looked for from where they are.
void OrderTracker::TakeGap(uint64_t dropped) {
  pause_.Count(dropped);
  watch_.Missed(dropped, NowUs());
  for (const auto& [id, job] : jobs_.all()) job->recorder.Missed();
}

void OrderTracker::TakeEvents() {
  for (const EpochWatch::Event& event : watch_.TakeEvents()) {
    if (event.what == EpochWatch::What::kBegun) {
      BeginPass(jobs_.Get(event.job));
    } else if (event.what == EpochWatch::What::kEnded) {
      TrackedJob* const job = jobs_.Find(event.job);
      if (job == nullptr) continue;
      EndJob(*job);
      const bool was_known = job->known();
      jobs_.Erase(event.job);
      if (was_known) Tell(true);
    }
  }
}

void OrderTracker::BeginPass(TrackedJob& job) {
  if (job.known()) return;
  if (const std::optional<EpochStart> epoch = watch_.Running(job.id())) {
    job.RecordPass(&*epoch);
    job.prediction.Begin(*epoch);
  }
  job.search.BeginPass();
}

void OrderTracker::EndJob(TrackedJob& job) {
  job.search.Cancel();
  finder_.EndJob(job.id());
  job.RecordPass(nullptr);
  handover_.Leave(job.id());
  if (std::string known = job.prediction.Describe(); !known.empty()) ended_ = std::move(known);
  hints_.Ended(job.id());
}

void OrderTracker::Follow(TrackedJob& job, IdentifiedOrder found) {
  job.search.Succeed();
  if (const std::optional<EpochStart> epoch = job.UnknownPass(watch_)) {
    hints_.Found(job.id(), epoch->pass, found);
    found.dataset_epoch = epoch->epoch;
  }
  if (!hints_.Has(found.guess)) finder_.DenyHints(job, found.seed.has_value());
  job.known_since = time(nullptr);
  job.prediction.Lock(std::move(found));
  job.SetPassKnown(watch_);
  const IdentifiedOrder& known = job.prediction.running();
  LogLimited(spdlog::level::info, "found orders", job.prediction.Describe(),
             fmt::format("the order is known: {} ({:.0f} bits against chance)", job.prediction.Describe(), known.bits));
  statistics_.Add(Stat::kOrdersFound, 1);
  ended_.clear();
  if (known.seed && known.offset == 0) finder_.SearchStreams(job, *known.seed, job.passes_known - 1);
  job.recorder.RecordKnown(known);
  handover_.Follow(job.id(), known);
  Tell(true);
}

void OrderTracker::Lose(TrackedJob& job) {
  LogLimited(spdlog::level::info, "lost orders", job.prediction.Describe(),
             "the reads are no longer as predicted: " + job.prediction.Describe());
  job.MarkPass(watch_);
  job.search.Restart();
  pause_.BeginAnew(NowUs());
  statistics_.Add(Stat::kOrdersLost, 1);
  Tell(true);
}

void OrderTracker::Tell(bool anew) { forecast_.Tell(jobs_.Known(), anew, NowUs()); }

// Now and then: jobs that have gone, others that have come apart.
void OrderTracker::Look() {
  looked_us_ = NowUs();
  watch_.Tick(looked_us_);
  TakeEvents();
  if (forecast_.IsStale(jobs_.Known())) Tell(true);
}

// A hint of the user is tried on hot data, too.
bool OrderTracker::IsHot() const { return pause_.hot() && hints_.empty(); }

void OrderTracker::LookAtHeat(uint64_t now_us) {
  const DataHeat::Turn turn = pause_.Look(now_us);
  if (paused() && !IsHot()) {
    Resume(now_us);
  } else if (turn == DataHeat::Turn::kCold) {
    for (const auto& [id, job] : jobs_.all()) job->search.Restart();
  }
  if (paused() || !IsHot()) return;
  for (const auto& [id, job] : jobs_.all()) job->search.Cancel();
  // A known order is followed on, by the opens of its files.
  if (jobs_.Known().empty()) Pause();
}

// While the prefetch follows an order that was given, one that is found would be of no use. It drops the order when the
// reads do not agree, or at its end. Then the reads so far tell what is read.
void OrderTracker::LookAtGiven() {
  if (given_ == orders_.FollowsGiven()) return;
  given_ = !given_;
  for (const auto& [id, job] : jobs_.all()) given_ ? job->search.Cancel() : job->search.Restart();
}

// Ends all jobs: their opens are not seen from now on.
void OrderTracker::Pause() {
  for (const auto& [id, job] : jobs_.all()) EndJob(*job);
  jobs_.Clear();
  watch_.ForgetAll();
  Tell(true);
  pause_.Begin();
  orders_.NeedOpens(false);
  LogLimited(spdlog::level::info, "hot data", "asleep", "orders are not looked for: all files come from memory");
}

void OrderTracker::Resume(uint64_t now_us) {
  orders_.NeedOpens(true);
  LogLimited(spdlog::level::info, "hot data", "awake", "orders are looked for again: files are fetched from the disk");
  for (const Access& access : pause_.End(now_us)) TakeAccess(access);
}

}  // namespace augur
