// SPDX-License-Identifier: Apache-2.0
#include "predict/order_finder.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/thread.h"
#include "predict/best_guess.h"
#include "predict/epoch_reads.h"
#include "predict/order_search.h"
#include "predict/recognize_run.h"
#include "predict/stream_search.h"
#include "predict/try_known_samplers.h"
#include "samplers/torch_recipes.h"

namespace augur {
namespace {

// Each is tried with 10,000 candidates, 85 ms in 2,500 files: 0.7 s for all. As candidates they cost log2(8) = 3 bits,
// a quarter of a read.
constexpr size_t kListsMax = 8;

double ThreadSeconds() { return std::chrono::duration<double>(ThreadTime()).count(); }

// The known order, if the epoch is that one, from wherever in it, but not before `begin`.
std::optional<IdentifiedOrder> FindKnown(const IdentifiedOrder& known, const EpochStart& epoch, uint32_t begin) {
  if (!known.guess.sampler) return std::nullopt;
  const CandidateScorer test(known.list, epoch);
  const CandidateScorer::Score score = test.TryMidEpoch(*known.guess.sampler, known.guess.epoch);
  if (score.bits < CandidateScorer::kBelievedBits) return std::nullopt;
  HostOrder made = IdentifyForHost(test, known.guess, score, false);
  if (made.open || made.identified.begin < begin) return std::nullopt;
  IdentifiedOrder found = known;
  found.order = std::move(made.identified.order);
  found.guess = std::move(made.identified.guess);
  found.begin = made.identified.begin;
  found.piece_guessed = known.piece_guessed && !found.guess.share.IsAll();
  found.bits = score.bits;
  return found;
}

// The order that was lost, if it is followed after all: another job's reads were taken for this one's, or it has gone
// back to an earlier place. From its beginning it is not that: an epoch is read again, as it will be the next time.
std::optional<IdentifiedOrder> FindLost(const JobPredictor& prediction, const EpochStart& epoch) {
  const std::optional<IdentifiedOrder>& lost = prediction.lost();
  if (!lost) return std::nullopt;
  return FindKnown(*lost, epoch, static_cast<uint32_t>(std::min<uint64_t>(lost->begin, ReadsOf(epoch))));
}

}  // namespace

// A list that is read as it is: a validation set, or a list that the script has shuffled itself.
std::shared_ptr<const std::vector<KnownSampler>> OrderFinder::AllKnown() {
  std::vector<KnownSampler> known = KnownSamplers();
  TorchRecipe recipe = FreshSeedRecipe("in the order of the list", 0, 0);
  recipe.draw = TorchRecipe::Draw::kNone;
  known.insert(known.begin(), {.sampler = MakeTorchSampler(std::move(recipe)), .epochs = 1});
  return std::make_shared<const std::vector<KnownSampler>>(std::move(known));
}

OrderFinder::OrderFinder(const Parts& parts, const OrderPredictorOptions& options,
                         std::function<void(TrackedJob&, IdentifiedOrder)> found)
    : parts_(parts),
      clock_us_(options.clock_us),
      thread_seconds_(options.thread_seconds ? options.thread_seconds : ThreadSeconds),
      known_(options.known),
      recorded_(parts.runs != nullptr ? ContinuationsOf(*parts.runs) : std::vector<Guess>()),
      found_(std::move(found)) {}

// The job whose tries have cost least comes first: where the budget does not reach for all, each job has its part of
// it.
void OrderFinder::TryAll() {
  if (parts_.jobs.size() == 1) return Try(*parts_.jobs.all().begin()->second);
  std::vector<TrackedJob*> jobs;
  for (const auto& [id, job] : parts_.jobs.all()) {
    if (job->search.IsDue(job->UnknownReads(parts_.watch))) jobs.push_back(job.get());
  }
  std::ranges::sort(jobs, {}, [](const TrackedJob* job) { return job->search.cost_seconds(); });
  for (TrackedJob* const job : jobs) Try(*job);
}

void OrderFinder::Try(TrackedJob& job) {
  // Opens of unknown processes are a job of their own only where processes read that cannot be seen.
  if (job.unattributed() && parts_.jobs.size() > 1) return;
  const uint64_t reads = job.UnknownReads(parts_.watch);
  if (!job.search.IsDue(reads) || !budget_.MayTry(clock_us_())) return;
  const double begun = thread_seconds_();
  if (const std::optional<EpochStart> epoch = job.UnknownPass(parts_.watch)) {
    job.search.SetTried(reads);
    if (std::optional<IdentifiedOrder> found = Find(job, *epoch)) found_(job, std::move(*found));
  }
  const double seconds = thread_seconds_() - begun;
  budget_.Pay(seconds);
  job.search.AddCost(seconds);
}

std::optional<IdentifiedOrder> OrderFinder::Find(TrackedJob& job, const EpochStart& epoch) {
  std::optional<IdentifiedOrder> found = FindLost(job.prediction, epoch);
  if (!found) found = parts_.handover.Find(epoch);
  if (!found) found = FindUnattributed(job, epoch);
  if (!found) found = FindHinted(job, epoch);
  if (!found && parts_.runs != nullptr) found = RecognizeRun(*parts_.runs, epoch, job.search.runs_tried());
  if (!found) found = FindByReads(job, epoch);
  return found;
}

std::optional<IdentifiedOrder> OrderFinder::FindUnattributed(const TrackedJob& job, const EpochStart& epoch) const {
  const TrackedJob* const unattributed = parts_.jobs.Unattributed();
  if (unattributed == nullptr || unattributed == &job) return std::nullopt;
  return FindKnown(unattributed->prediction.running(), epoch, 0);
}

std::optional<IdentifiedOrder> OrderFinder::FindHinted(const TrackedJob& job, const EpochStart& epoch) {
  if (parts_.hints.empty()) return std::nullopt;
  std::optional<IdentifiedOrder> found =
      parts_.hints.Answer(TestsOf(epoch), job.prediction.history().Expected(epoch.epoch));
  if (!found && ReadsOf(epoch) >= Hints::kReadsToDeny) DenyHints(job, !job.search.allowance()->spent());
  return found;
}

// By what the reads alone tell. Begins the search in the background if they tell enough, and nothing fits.
std::optional<IdentifiedOrder> OrderFinder::FindByReads(TrackedJob& job, const EpochStart& epoch) {
  const uint64_t compared = HeldReadsOf(epoch);
  if (!job.search.HasMore(compared)) return std::nullopt;
  SearchRequest request = RequestOf(job, epoch);
  if (request.tests.empty()) return std::nullopt;
  const bool decidable = OrderSearch::Decidable(request);
  request.variants = job.search.TriesVariants(epoch, compared, decidable);
  std::optional<IdentifiedOrder> found = TryKnownSamplers(request, *known_);
  if (!found && request.variants && decidable) found = AnswerFromStreams(request);
  if (!found) found = TryKnownSamplersMidEpoch(request, *known_);
  if (found || job.search.running() || !decidable || parts_.queue.stopping()) return found;
  if (job.search.allowance()->spent()) {
    Fail(job, ReadsOf(epoch));
  } else {
    BeginSearch(job, std::move(request), ReadsOf(epoch));
  }
  return std::nullopt;
}

SearchRequest OrderFinder::RequestOf(const TrackedJob& job, const EpochStart& epoch) {
  SearchRequest request;
  request.tests = TestsOf(epoch);
  if (request.tests.empty()) return request;
  request.expected = job.prediction.history().Expected(epoch.epoch);
  request.expected.insert(request.expected.end(), recorded_.begin(), recorded_.end());
  const bool multithreaded = std::ranges::any_of(epoch.streams, &EpochStream::multithreaded);
  request.lists_first = multithreaded || job.search.failed();
  for (const EpochStream& stream : epoch.streams) {
    request.ranks = std::max<uint64_t>(request.ranks, stream.launch.world_size);
  }
  request.allowance = job.search.allowance();
  request.resumed = epoch.pass == 0;
  request.drawn = job.prediction.history().Drawn();
  request.stopped = [this] { return parts_.queue.stopping(); };
  return request;
}

// One for each list of samples that has the files that were read.
std::vector<CandidateScorer> OrderFinder::TestsOf(const EpochStart& epoch) {
  std::vector<CandidateScorer> tests;
  const auto lists = parts_.lists.Candidates(SeenFiles(epoch), kListsMax);
  if (!lists.ok()) return tests;
  for (const std::shared_ptr<const SampleList>& list : *lists) tests.emplace_back(list, epoch);
  return tests;
}

void OrderFinder::BeginSearch(TrackedJob& job, SearchRequest request, uint64_t reads) {
  const JobId id = job.id();
  const uint64_t number = ++searches_;
  auto done = [this, id, number, reads](std::optional<IdentifiedOrder> found) {
    parts_.queue.Post([this, id, number, reads, found = std::move(found)]() mutable {
      TakeResult(id, number, reads, std::move(found));
    });
  };
  job.search.Begin(number, std::make_shared<OrderSearch>(parts_.searcher, known_, std::move(request), std::move(done)));
}

void OrderFinder::TakeResult(JobId id, uint64_t search, uint64_t reads, std::optional<IdentifiedOrder> found) {
  TrackedJob* const job = parts_.jobs.Find(id);
  if (job == nullptr || !job->search.End(search, found)) return;
  if (found) return found_(*job, std::move(*found));
  Fail(*job, reads);
}

void OrderFinder::Fail(TrackedJob& job, uint64_t reads) {
  job.search.Fail(reads);
  if (reads >= Hints::kReadsToDeny) DenyHints(job, false);
}

void OrderFinder::DenyHints(const TrackedJob& job, bool searching) {
  if (parts_.hints.empty()) return;
  if (const std::optional<EpochStart> epoch = job.UnknownPass(parts_.watch)) {
    parts_.hints.Deny(job.id(), epoch->pass, TestsOf(*epoch), searching);
  }
}

void OrderFinder::SearchStreams(const TrackedJob& job, uint32_t seed, uint32_t pass) {
  const JobId id = job.id();
  const std::vector<uint32_t> hinted = parts_.hints.StreamSeeds();
  SearchJob search = MakeStreamSearchJob(seed, hinted, [this, id, pass, hinted](std::vector<StreamPosition> places) {
    parts_.queue.Post([this, id, pass, hinted, places = std::move(places)] { TakePlaces(id, pass, hinted, places); });
  });
  search.allowance = job.search.allowance();
  uint64_t& number = stream_searches_[id];
  parts_.searcher.Cancel(std::exchange(number, parts_.searcher.Submit(std::move(search))));
}

void OrderFinder::EndJob(JobId job) {
  if (const auto ended = stream_searches_.extract(job); !ended.empty()) parts_.searcher.Cancel(ended.mapped());
}

void OrderFinder::TakePlaces(JobId id, uint32_t pass, const std::vector<uint32_t>& hinted,
                             std::vector<StreamPosition> places) {
  TrackedJob* const job = parts_.jobs.Find(id);
  if (job == nullptr) return;
  for (const uint32_t seed : hinted) {
    const auto place = std::ranges::find(places, seed, &StreamPosition::stream_seed);
    parts_.hints.Searched(id, pass, seed, place == places.end() ? std::nullopt : std::optional(place->position));
  }
  job->prediction.SetStreamPlaces(std::move(places));
}

}  // namespace augur
