// SPDX-License-Identifier: Apache-2.0
#include "predict/order_predictor.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "base/limited_log.h"
#include "predict/epoch_reads.h"
#include "predict/recognize_run.h"
#include "predict/stream_search.h"
#include "predict/try_known_samplers.h"
#include "seed_search/running_job.h"

// How the order of an epoch is asked for, and what follows from an answer.

namespace augur {
namespace {

constexpr size_t kListsMax = 8;
// The seeds of a script are set once: what costs a tenth of a second is tried in the first passes of a job only; and
// once there were reads enough to tell it, once more, in case that the first of them were not the job's.
constexpr uint32_t kPassesOfSeeds = 2;
constexpr uint64_t kReadsToAskSeedsAgain = 8;  // times as many
// Of what a job has read. A job that is not understood may have read millions, and this is done for each few reads.
constexpr size_t kReadsLookedAt = 4096;

}  // namespace

// Where most of the running pass was predicted, its first reads are no question any more: their answer is the order
// that has ended or was lost.
void OrderPredictor::MarkPass(Job& job) const {
  const std::optional<EpochStart> epoch = watch_.Running(job.prediction.id());
  if (!epoch) return;
  if (AllReadsOf(*epoch) > 4 * (job.prediction.reads().size() + kReadsToAsk)) {
    job.passes_locked = std::max(job.passes_locked, epoch->pass + 1);
  }
}

void OrderPredictor::Unlocked(Job& job) {
  MarkPass(job);
  job.AskAnew();
  job.state.clear();
  statistics_.Add(Stat::kOrdersLost, 1);
  Tell(true);
}

// The opens that are this job's because they can be nobody else's: the watch does not know that.
void OrderPredictor::AddUnnamed(const JobPredictor& job, EpochStart* epoch) {
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
uint64_t OrderPredictor::ReadsKept(const Job& job) const {
  if (job.prediction.locked()) return 0;
  const std::optional<EpochWatch::Kept> kept = watch_.KeptReads(job.prediction.id());
  if (!kept) return 0;
  const uint64_t reads = std::min<uint64_t>(job.prediction.reads().size(), kReadsLookedAt);
  return job.passes_locked > kept->pass ? reads : std::max(kept->reads, reads);
}

// The first reads of the epoch whose order is not known; none where nothing is to be asked.
std::optional<EpochStart> OrderPredictor::Asked(const Job& job) const {
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
std::vector<CandidateScorer> OrderPredictor::TestsOf(const EpochStart& epoch) {
  std::vector<CandidateScorer> tests;
  const Result<std::vector<std::shared_ptr<const SampleList>>> lists = lists_.Candidates(SeenFiles(epoch), kListsMax);
  if (!lists.ok()) return tests;
  for (const std::shared_ptr<const SampleList>& list : *lists) tests.emplace_back(list, epoch);
  return tests;
}

// Whether what costs a tenth of a second is tried, with so many reads of the pass to hold it against.
bool OrderPredictor::AsksSeeds(const EpochStart& epoch, uint64_t held, bool decidable, Job* job) {
  if (epoch.pass >= kPassesOfSeeds) return false;
  const uint64_t held_max = epoch.streams.size() * CandidateScorer::kReadsAStream;
  if (held < std::min(kReadsToAskSeedsAgain * job->seeds_held, held_max)) return false;
  if (decidable) job->seeds_held = held;
  return true;
}

double OrderPredictor::ThreadSeconds() const {
  return options_.thread_seconds ? options_.thread_seconds() : std::chrono::duration<double>(ThreadTime()).count();
}

// Whose questions have cost least asks first: where the budget does not reach for all, each job has its part of it.
void OrderPredictor::AskAll() {
  if (jobs_.size() == 1) return Ask(*jobs_.begin()->second);
  std::vector<Job*> jobs;
  for (auto& [id, job] : jobs_) {
    if (ReadsKept(*job) >= job->reads_to_ask) jobs.push_back(job.get());
  }
  std::ranges::sort(jobs, {}, &Job::asked_seconds);
  for (Job* const job : jobs) Ask(*job);
}

void OrderPredictor::Ask(Job& job) {
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

void OrderPredictor::AskAbout(Job& job, const EpochStart& epoch) {
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
      *searcher_, known_, std::move(question), [this, id, number, reads](std::optional<IdentifiedOrder> finding) {
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
bool OrderPredictor::AskLost(Job& job, const EpochStart& epoch) {
  const std::optional<IdentifiedOrder>& lost = job.prediction.lost();
  return lost && AskKnown(job, epoch, *lost, static_cast<uint32_t>(std::min<uint64_t>(lost->begin, ReadsOf(epoch))));
}

// Whether the opens that nobody could be named for, whose order is known, were this job's.
bool OrderPredictor::AskUnnamed(Job& job, const EpochStart& epoch) {
  const Job* const unattributed = Unnamed();
  return unattributed != nullptr && unattributed != &job && AskKnown(job, epoch, unattributed->prediction.finding(), 0);
}

// Whether the epoch is the one that was found, from wherever in it, but not before `begin`.
bool OrderPredictor::AskKnown(Job& job, const EpochStart& epoch, const IdentifiedOrder& known, uint32_t begin) {
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
const OrderPredictor::Job* OrderPredictor::Unnamed() const {
  const auto unattributed = jobs_.find(0);
  if (unattributed == jobs_.end() || unattributed->second->read || !unattributed->second->prediction.locked())
    return nullptr;
  return unattributed->second.get();
}

// Where a job reads as they were opened, they were its own: nobody reads that order a second time.
void OrderPredictor::ForgetDouble() {
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
bool OrderPredictor::AskHints(Job& job, const EpochStart& epoch, uint64_t reads) {
  if (hints_.empty()) return false;
  if (std::optional<IdentifiedOrder> finding = hints_.Answer(TestsOf(epoch), job.prediction.Expected(epoch.epoch))) {
    Found(job, reads, std::move(finding));
    return true;
  }
  if (reads >= Hints::kReadsToDeny) DenyHints(job, !job.allowance->spent());
  return false;
}

// The epoch that is asked for is not as hinted.
void OrderPredictor::DenyHints(const Job& job, bool searching) {
  if (hints_.empty()) return;
  if (const std::optional<EpochStart> epoch = Asked(job)) {
    hints_.Deny(job.prediction.id(), epoch->pass, TestsOf(*epoch), searching);
  }
}

// Whether the epoch is one that was recorded.
bool OrderPredictor::AskReplay(Job& job, const EpochStart& epoch) {
  if (!replay_) return false;
  std::optional<IdentifiedOrder> found = RecognizeRun(*replay_, epoch, &job.recalled);
  if (!found) return false;
  Lock(job, std::move(*found));
  return true;
}

void OrderPredictor::Answer(JobId id, uint64_t question, uint64_t reads, std::optional<IdentifiedOrder> finding) {
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

void OrderPredictor::Found(Job& job, uint64_t reads, std::optional<IdentifiedOrder> finding) {
  if (finding) return Lock(job, std::move(*finding));
  job.state = "not understood after " + std::to_string(reads) + " reads";
  if (job.allowance->spent()) {
    job.state += fmt::format("; not searched for any more: the searches of this run have taken {:g} core-seconds",
                             job.allowance->core_seconds());
  }
  if (reads >= Hints::kReadsToDeny) DenyHints(job, false);
}

void OrderPredictor::Lock(Job& job, IdentifiedOrder finding) {
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
void OrderPredictor::SearchStreams(Job& job, uint32_t seed, uint32_t pass) {
  const JobId id = job.prediction.id();
  const std::vector<uint32_t> hinted = hints_.StreamSeeds();
  SearchJob search = MakeStreamSearchJob(seed, hinted, [this, id, pass, hinted](std::vector<StreamPosition> places) {
    queue_.Post([this, id, pass, hinted, places = std::move(places)] { TakePlaces(id, pass, hinted, places); });
  });
  search.allowance = job.allowance;
  searcher_->Submit(std::move(search));
}

void OrderPredictor::TakePlaces(JobId id, uint32_t pass, const std::vector<uint32_t>& hinted,
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
