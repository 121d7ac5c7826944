// SPDX-License-Identifier: Apache-2.0
#include "foresee/foreseer.h"

#include <spdlog/spdlog.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX's

#include <algorithm>
#include <array>
#include <chrono>
#include <future>

#include "base/thread.h"
#include "base/units.h"
#include "foresee/guess_text.h"
#include "search/chain_scan.h"
#include "shuffle/torch_recipes.h"

namespace augur {
namespace {

constexpr std::chrono::milliseconds kLookEvery(500);
// An epoch is asked for after so many reads, and each time they have doubled.
constexpr uint64_t kReadsToAsk = 3;
// A job whose epochs could not be searched so often has another sampler.
constexpr uint32_t kSearchesMax = 3;
constexpr size_t kSeenFiles = 32;
constexpr size_t kListsMax = 8;
// Core-seconds of a search of all seeds, and what a run costs that has not said how long it will be: ten of its epochs.
// Fewer are rarely trained.
constexpr double kSearchPrice = 60;
constexpr double kPriceShare = 0.01;
constexpr double kEpochsOfARun = 10;
// As far as a model's first values may move the stream (a ViT-B takes 1.4e8 outputs).
constexpr uint64_t kChainOutputs = 200'000'000;
constexpr uint64_t kChainStep = 10'000'000;
constexpr size_t kRecordedEpochsMax = 16;
constexpr uint64_t kEpochsRemembered = 16;
constexpr double kReplayBits = GuessTest::kBelievedBits;

// CLOCK_BOOTTIME, to which start times of processes refer.
uint64_t BootTimeUs() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

std::vector<EntryNumber> SeenFiles(const EpochStart& epoch) {
  std::vector<EntryNumber> files;
  for (size_t i = 0; files.size() < kSeenFiles; ++i) {
    const size_t before = files.size();
    for (const EpochStream& stream : epoch.streams) {
      if (i < stream.reads.size() && files.size() < kSeenFiles) files.push_back(stream.reads[i].file);
    }
    if (files.size() == before) break;
  }
  return files;
}

// A list that is read as it is, before all shuffles: a validation set, or a list that the script has shuffled itself.
std::vector<KnownSampler> AllKnown() {
  std::vector<KnownSampler> known = KnownSamplers();
  TorchRecipe recipe = FreshSeedRecipe("in the order of the list", 0, 0);
  recipe.draw = TorchRecipe::Draw::kNone;
  known.insert(known.begin(), {.sampler = MakeTorchSampler(std::move(recipe)), .epochs = 1});
  return known;
}

uint64_t ReadsOf(const EpochStart& epoch) {
  uint64_t reads = 0;
  for (const EpochStream& stream : epoch.streams) reads += stream.reads.size();
  return reads;
}

uint64_t AllReadsOf(const EpochStart& epoch) {
  uint64_t reads = 0;
  for (const EpochStream& stream : epoch.streams) reads += stream.read_count;
  return reads;
}

}  // namespace

Foreseer::Foreseer(std::shared_ptr<const Store> store, ForeseenOrders& orders, Statistics& statistics,
                   ForeseerOptions options)
    : store_(std::move(store)),
      statistics_(statistics),
      options_(std::move(options)),
      processes_(options_.processes != nullptr ? options_.processes : &source_),
      watch_(&processes_),
      lists_(store_),
      known_(options_.known ? options_.known : std::make_shared<const std::vector<KnownSampler>>(AllKnown())),
      foretold_(orders) {}

Foreseer::~Foreseer() { Stop(); }

Status Foreseer::Start() {
  AUGUR_TRY_ASSIGN(searcher, Searcher::Start({.threads = options_.search_threads}));
  searcher_ = std::move(searcher);
  if (!options_.replay_folder.empty()) {
    Result<std::unique_ptr<ReplayStore>> replay = ReplayStore::Open(options_.replay_folder, store_->summary());
    if (replay.ok()) {
      replay_ = std::move(replay).value();
      Remember();
    } else {
      spdlog::info("orders are not remembered from run to run: {}", replay.status().text());
    }
  }
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-foresee", [this] { Run(); }));
  thread_ = std::move(thread);
  return Status::Ok();
}

void Foreseer::Stop() {
  {
    const MutexLock lock(mu_);
    stopping_ = true;
    posted_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
  searcher_.reset();
}

void Foreseer::SawRead(EntryNumber file, uint32_t reader) {
  const uint64_t now_us = NowUs();
  const MutexLock lock(mu_);
  if (sightings_.empty()) posted_.NotifyOne();
  sightings_.push_back({.file = file, .reader = reader, .read = true, .time_us = now_us});
}

void Foreseer::SawOpened(std::span<const EntryNumber> files) {
  const uint64_t now_us = NowUs();
  const MutexLock lock(mu_);
  if (sightings_.empty()) posted_.NotifyOne();
  for (const EntryNumber file : files) {
    sightings_.push_back({.file = file, .reader = 0, .read = false, .time_us = now_us});
  }
}

void Foreseer::AddHint(SamplerSpec hint) {
  Post([this, hint = std::make_shared<SamplerSpec>(std::move(hint))] {
    std::unordered_map<JobId, uint32_t> running;
    for (auto& [id, job] : jobs_) {
      if (const std::optional<EpochStart> epoch = watch_.Running(id)) running[id] = epoch->pass;
      job->reads_to_ask = kReadsToAsk;
    }
    hints_.Add(std::move(*hint), std::move(running));
  });
}

std::vector<std::pair<std::string, std::string>> Foreseer::Describe() const {
  const MutexLock lock(mu_);
  return facts_;
}

uint64_t Foreseer::NowUs() const { return options_.clock_us ? options_.clock_us() : BootTimeUs(); }

// What is told is taken in after the events that are there with it: the second one comes after all of it.
void Foreseer::Flush() {
  for (int i = 0; i < 2; ++i) {
    const auto taken = std::make_shared<std::promise<void>>();
    Post([taken] { taken->set_value(); });
    taken->get_future().wait();
  }
}

void Foreseer::Post(std::function<void()> event) {
  const MutexLock lock(mu_);
  events_.push_back(std::move(event));
  posted_.NotifyOne();
}

void Foreseer::Run() {
  std::vector<Sighting> sightings;
  std::deque<std::function<void()>> events;
  while (true) {
    {
      const MutexLock lock(mu_);
      if (sightings_.empty() && events_.empty() && !stopping_) posted_.WaitFor(mu_, kLookEvery);
      if (stopping_) break;
      sightings.swap(sightings_);
      events.swap(events_);
    }
    for (const std::function<void()>& event : events) event();
    events.clear();
    for (const Sighting& sighting : sightings) Take(sighting);
    const bool quiet = sightings.empty();
    sightings.clear();
    const uint64_t now_us = NowUs();
    if (quiet || now_us - looked_us_ > static_cast<uint64_t>(kLookEvery.count()) * 1000) Look();
    for (auto& [id, job] : jobs_) Ask(*job);
    Publish();
  }
  for (auto& [id, job] : jobs_) {
    if (job->inquiry) job->inquiry->Cancel();
  }
}

Foreseer::Job& Foreseer::JobOf(JobId id) {
  std::unique_ptr<Job>& job = jobs_[id];
  if (!job) {
    job = std::make_unique<Job>(id);
    job->reads_to_ask = kReadsToAsk;
    job->since_us = NowUs();
  }
  return *job;
}

// Whose a read is. A READ names its job. An open that the page cache served does not. It is the job's that is to read
// the file soonest, if that is about as soon as its readers are apart; what comes by chance that near to one of several
// jobs is mostly another's, as long as there is one whose order is not known.
Foreseer::Job& Foreseer::OwnerOf(const EpochWatch::Seen& seen, bool read) {
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
    if (!job->foresight.locked()) {
      if (id == 0 && !job->read) continue;
      unlocked = job.get();
      ++unlocked_jobs;
      continue;
    }
    const std::optional<uint64_t> away = job->foresight.Expects(seen.file);
    if (!away || (owner != nullptr && *away >= least)) continue;
    owner = job.get();
    least = *away;
  }
  if (owner != nullptr && (unlocked_jobs == 0 || least <= owner->foresight.follower().apart())) return *owner;
  return seen.job == 0 && unlocked_jobs == 1 ? *unlocked : JobOf(seen.job);
}

void Foreseer::Take(const Sighting& sighting) {
  const std::optional<EpochWatch::Seen> seen = watch_.See(sighting);
  TakeEvents();
  // The other half of a read that was taken already, whoever expects the file.
  if (!seen || seen->again) return;
  Job* const owner = &OwnerOf(*seen, sighting.read);
  const StreamId stream = seen->job == owner->foresight.id() ? seen->stream : 0;
  if (replay_ && !owner->foresight.locked() && owner->seen.size() < JobForesight::kReadsMax) {
    owner->seen.push_back(sighting.file);
  }
  switch (owner->foresight.Saw(sighting.file, stream)) {
    case JobForesight::Told::kNothing: return;
    case JobForesight::Told::kRolled:
      hints_.Agree(owner->foresight.id(), owner->foresight.finding());
      Record(*owner);
      return Tell(false);
    case JobForesight::Told::kLost:
      spdlog::info("the reads are no longer as foreseen: {}", owner->foresight.Describe());
      return Unlocked(*owner);
    case JobForesight::Told::kEnded:
      // The prefetch comes to the end of it by itself: the last files are still to be read.
      foretold_.Forget();
      owner->reads_to_ask = kReadsToAsk;
      MarkPass(*owner);
      if (foretold_.several()) Tell(true);
      return;
  }
}

void Foreseer::TakeEvents() {
  for (const EpochWatch::Event& event : watch_.TakeEvents()) {
    if (event.what == EpochWatch::What::kEnded) {
      const auto job = jobs_.find(event.job);
      if (job == jobs_.end()) continue;
      if (job->second->inquiry) job->second->inquiry->Cancel();
      RecordSeen(*job->second, nullptr);
      const bool was_locked = job->second->foresight.locked();
      jobs_.erase(job);
      hints_.Ended(event.job);
      if (was_locked) Tell(true);
      continue;
    }
    if (event.what != EpochWatch::What::kBegun) continue;
    Job& job = JobOf(event.job);
    if (job.foresight.locked()) continue;
    const std::optional<EpochStart> epoch = watch_.Running(event.job);
    if (epoch) {
      RecordSeen(job, &*epoch);
      job.foresight.Begin(*epoch);
    }
    job.reads_to_ask = kReadsToAsk;
    if (job.inquiry) job.inquiry->Cancel();
    job.inquiry.reset();
  }
}

// Where most of the running pass was foreseen, its first reads are no question any more: their answer is the order that
// has ended or was lost.
void Foreseer::MarkPass(Job& job) const {
  const std::optional<EpochStart> epoch = watch_.Running(job.foresight.id());
  if (!epoch) return;
  if (AllReadsOf(*epoch) > 4 * (job.foresight.reads().size() + kReadsToAsk)) {
    job.passes_locked = std::max(job.passes_locked, epoch->pass + 1);
  }
}

void Foreseer::Unlocked(Job& job) {
  MarkPass(job);
  job.reads_to_ask = kReadsToAsk;
  job.state.clear();
  statistics_.Add(Stat::kOrdersLost, 1);
  Tell(true);
}

// The first reads of the epoch whose order is not known; none where nothing is to be asked.
std::optional<EpochStart> Foreseer::Asked(const Job& job) const {
  if (job.foresight.locked()) return std::nullopt;
  std::optional<EpochStart> epoch = watch_.Running(job.foresight.id());
  if (!epoch || job.passes_locked <= epoch->pass) return epoch;
  // Where the reader has gone elsewhere and nobody saw a beginning, what it has read since is all that is known.
  const uint32_t pass = epoch->pass;
  epoch = job.foresight.Unforeseen();
  epoch->pass = pass;
  return epoch;
}

// One for each list of samples that has the files that were read.
std::vector<GuessTest> Foreseer::TestsOf(const EpochStart& epoch) {
  std::vector<GuessTest> tests;
  const Result<std::vector<std::shared_ptr<const SampleList>>> lists = lists_.Candidates(SeenFiles(epoch), kListsMax);
  if (!lists.ok()) return tests;
  for (const std::shared_ptr<const SampleList>& list : *lists) tests.emplace_back(list, epoch);
  return tests;
}

void Foreseer::Ask(Job& job) {
  // What nobody could be named for is a job of its own only where somebody reads whose processes cannot be seen.
  if (job.foresight.id() == 0 && !job.read && jobs_.size() > 1) return;
  const std::optional<EpochStart> epoch = Asked(job);
  if (!epoch) return;
  const uint64_t reads = ReadsOf(*epoch);
  if (reads < job.reads_to_ask) return;
  job.reads_to_ask = 2 * reads;
  if (AskLost(job, *epoch)) return;
  if (AskHints(job, *epoch, reads) || AskReplay(job, *epoch)) return;
  Question question;
  question.tests = TestsOf(*epoch);
  if (question.tests.empty()) return;
  question.expected = job.foresight.Expected();
  question.expected.insert(question.expected.end(), remembered_.begin(), remembered_.end());
  for (const EpochStream& stream : epoch->streams) {
    question.ranks = std::max<uint64_t>(question.ranks, stream.launch.world_size);
  }
  question.search = job.searches_failed < kSearchesMax;
  if (std::optional<Finding> finding = Inquiry::AnswerAtOnce(question, *known_)) {
    if (job.inquiry) job.inquiry->Cancel();
    job.inquiry.reset();
    return Found(job, reads, std::move(finding));
  }
  if (job.inquiry || !Inquiry::Decidable(question)) return;
  if (std::optional<Finding> finding = Inquiry::AnswerFromStreams(question))
    return Found(job, reads, std::move(finding));
  const JobId id = job.foresight.id();
  const uint64_t number = ++questions_;
  job.question = number;
  job.inquiry = std::make_shared<Inquiry>(
      *searcher_, known_, std::move(question), [this, id, number, reads](std::optional<Finding> finding) {
        Post([this, id, number, reads, found = std::make_shared<std::optional<Finding>>(std::move(finding))] {
          Answer(id, number, reads, std::move(*found));
        });
      });
  job.inquiry->Begin();
  SetPrice();
}

// Whether the order that was lost in mid-epoch is followed after all: somebody else's reads were taken for the job's.
bool Foreseer::AskLost(Job& job, const EpochStart& epoch) {
  const std::optional<Finding>& lost = job.foresight.lost();
  if (!lost || !lost->guess.sampler || !lost->guess.share.IsAll()) return false;
  const GuessTest test(lost->list, epoch);
  const GuessTest::Midst found = test.TryAnywhere(*lost->guess.sampler, lost->guess.epoch);
  if (found.bits < GuessTest::kBelievedBits) return false;
  if (job.inquiry) job.inquiry->Cancel();
  job.inquiry.reset();
  Finding finding = *lost;
  finding.begin = found.begin;
  finding.bits = found.bits;
  Lock(job, std::move(finding));
  return true;
}

// Whether the epoch is as the user said.
bool Foreseer::AskHints(Job& job, const EpochStart& epoch, uint64_t reads) {
  if (hints_.empty()) return false;
  if (std::optional<Finding> finding = hints_.Answer(TestsOf(epoch))) {
    if (job.inquiry) job.inquiry->Cancel();
    job.inquiry.reset();
    Found(job, reads, std::move(finding));
    return true;
  }
  if (reads >= Hints::kReadsToDeny) DenyHints(job, job.searches_failed < kSearchesMax);
  return false;
}

// The epoch that is asked for is not as hinted.
void Foreseer::DenyHints(const Job& job, bool searching) {
  if (hints_.empty()) return;
  if (const std::optional<EpochStart> epoch = Asked(job)) {
    hints_.Deny(job.foresight.id(), epoch->pass, TestsOf(*epoch), searching);
  }
}

// The runs that were seen may still go on: from the epoch that was read last, or the ones after it.
void Foreseer::Remember() {
  const Result<std::vector<ReplayRun>> runs = replay_->List();
  if (!runs.ok()) return;
  for (const ReplayRun& run : *runs) {
    const std::optional<Guess> guess = ParseGuess(run.finding);
    for (uint64_t ahead = 0; guess && ahead < kEpochsRemembered; ++ahead) {
      remembered_.push_back({.sampler = guess->sampler, .epoch = guess->epoch + ahead});
    }
  }
}

// Whether the epoch is one that was recorded.
bool Foreseer::AskReplay(Job& job, const EpochStart& epoch) {
  if (!replay_) return false;
  const Result<std::vector<ReplayMatch>> matches = replay_->Match(SeenFiles(epoch));
  if (!matches.ok() || matches->empty() || matches->front().bits < kReplayBits) return false;
  const ReplayMatch& match = matches->front();
  Result<augur::Run> run = replay_->Load(match.run);
  if (!run.ok() || match.epoch >= run->epochs.size()) return false;
  Finding finding;
  finding.bits = match.bits;
  finding.run = match.run;
  finding.order = std::make_shared<const EpochOrder>(std::move(run->epochs[match.epoch]));
  for (size_t i = match.epoch + 1; i < run->epochs.size(); ++i) {
    finding.recorded.push_back(std::make_shared<const EpochOrder>(std::move(run->epochs[i])));
  }
  finding.what = "epoch " + std::to_string(match.epoch) + " of a recorded run" +
                 (run->finding.empty() ? "" : " (" + run->finding + ")");
  finding.how = "recognised after " + std::to_string(ReadsOf(epoch)) + " reads";
  job.record_name = match.run;
  (void)replay_->Touch(match.run);
  Lock(job, std::move(finding));
  return job.foresight.locked();
}

void Foreseer::Answer(JobId id, uint64_t question, uint64_t reads, std::optional<Finding> finding) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second->question != question || !found->second->inquiry) return;
  Job& job = *found->second;
  const bool searched = job.inquiry->searched();
  job.inquiry.reset();
  if (job.foresight.locked()) return;
  if (!finding && searched) ++job.searches_failed;
  Found(job, reads, std::move(finding));
}

void Foreseer::Found(Job& job, uint64_t reads, std::optional<Finding> finding) {
  if (finding) return Lock(job, std::move(*finding));
  job.state = "not understood after " + std::to_string(reads) + " reads";
  if (reads >= Hints::kReadsToDeny) DenyHints(job, false);
}

void Foreseer::Lock(Job& job, Finding finding) {
  if (const std::optional<EpochStart> epoch = Asked(job)) hints_.Found(job.foresight.id(), epoch->pass, finding);
  if (!hints_.Has(finding.guess)) DenyHints(job, finding.seed.has_value());
  job.foresight.Lock(std::move(finding));
  if (!job.foresight.locked()) return;
  if (const std::optional<EpochStart> epoch = watch_.Running(job.foresight.id())) job.passes_locked = epoch->pass + 1;
  const Finding& found = job.foresight.finding();
  spdlog::info("the order is known: {} ({:.0f} bits against chance)", job.foresight.Describe(), found.bits);
  statistics_.Add(Stat::kOrdersFound, 1);
  job.state.clear();
  job.seen = {};
  job.searches_failed = 0;
  if (found.seed && found.offset == 0) SearchChain(job);
  Record(job);
  Tell(true);
}

// Where the script's own generator drew the seed that was found: by that, all later ones are known.
void Foreseer::SearchChain(Job& job) {
  struct Places {
    std::array<std::atomic<uint64_t>, 8> found = {};  // seed's number << 40 | position + 1
    std::atomic<size_t> count = 0;
  };
  const auto places = std::make_shared<Places>();
  const auto seeds = std::make_shared<const std::vector<uint32_t>>(StreamSeeds(hints_.StreamSeeds()));
  const auto hinted = std::make_shared<const std::vector<uint32_t>>(hints_.StreamSeeds());
  const uint32_t value = *job.foresight.finding().seed;
  const JobId id = job.foresight.id();
  SearchJob search;
  search.name = "the streams of known seeds";
  search.units = seeds->size();
  search.work = [places, seeds, value](uint64_t first, uint64_t count, SearchTurn& turn) {
    for (uint64_t unit = first; unit < first + count; ++unit) {
      ChainScan scan((*seeds)[unit]);
      std::vector<ChainHit> hits;
      while (scan.position() < kChainOutputs) {
        scan.Find(std::span(&value, 1), kChainStep, nullptr, &hits);
        if (!turn.Continue()) return;
      }
      for (const ChainHit& hit : hits) {
        const size_t slot = places->count.fetch_add(1);
        if (slot < places->found.size()) places->found[slot] = unit << 40 | (hit.position + 1);
      }
    }
  };
  search.on_done = [this, id, places, seeds, hinted](const SearchOutcome& outcome) {
    if (outcome.end == SearchEnd::kCancelled) return;
    Post([this, id, places, seeds, hinted] {
      const auto asked = jobs_.find(id);
      if (asked == jobs_.end()) return;
      std::vector<ChainPlace> chain;
      for (const std::atomic<uint64_t>& slot : places->found) {
        const uint64_t item = slot.load();
        if (item == 0) continue;
        chain.push_back({.stream_seed = (*seeds)[item >> 40], .position = (item & ((uint64_t{1} << 40) - 1)) - 1});
        spdlog::debug("the seed may be output {} of torch.manual_seed({})", chain.back().position,
                      chain.back().stream_seed);
      }
      for (const uint32_t seed : *hinted) {
        const auto place = std::ranges::find(chain, seed, &ChainPlace::stream_seed);
        hints_.Searched(id, asked->second->passes_locked - 1, seed,
                        place == chain.end() ? std::nullopt : std::optional(place->position));
      }
      asked->second->foresight.SetChain(std::move(chain));
    });
  };
  searcher_->Submit(std::move(search));
}

// Keeps the orders of this run for the next one.
void Foreseer::Record(Job& job) {
  if (!replay_ || !job.foresight.locked()) return;
  const Finding& finding = job.foresight.finding();
  // An order that is known beforehand need not be remembered, and a recorded one is there.
  if (!finding.run.empty() || (finding.continues && !finding.seed && job.record.epochs.empty())) return;
  job.record.finding = RenderGuess(finding.guess);
  Record(job, finding.order->files());
}

// The same for an epoch whose order was not understood: such a run is recognised by nothing else when it comes again. A
// sampler with replacement looks as if it began anew, so that alone ends no epoch before the list is through. Of a look
// at some files nothing is kept.
void Foreseer::RecordSeen(Job& job, const EpochStart* next) {
  if (!replay_ || job.foresight.locked()) return;
  // Those of the next epoch, but the last one, which is still to be taken in.
  const uint64_t of_next = next != nullptr ? std::min<uint64_t>(AllReadsOf(*next) - 1, job.seen.size()) : 0;
  const auto end = job.seen.end() - static_cast<std::ptrdiff_t>(of_next);
  Order files(job.seen.begin(), end);
  if (files.size() > kSeenFiles) {
    const auto lists = lists_.Candidates(std::span(files).first(kSeenFiles), 1);
    const uint64_t size = lists.ok() && !lists->empty() ? lists->front()->size() : files.size();
    if (next != nullptr && !next->new_processes && files.size() < size) return;
    if (lists.ok() && !lists->empty() && files.size() >= size / 2) Record(job, std::move(files));
  }
  job.seen.erase(job.seen.begin(), end);
}

void Foreseer::Record(Job& job, Order files) {
  if (job.record.epochs.size() >= kRecordedEpochsMax) return;
  job.record.epochs.push_back(std::move(files));
  if (job.record_name.empty()) job.record_name = ReplayStore::NewName();
  const Status status = replay_->Save(job.record_name, job.record);
  if (!status.ok()) spdlog::info("the order is not remembered: {}", status.text());
}

// The foresights of the jobs whose orders are known.
std::vector<const JobForesight*> Foreseer::Locked() const {
  std::vector<const JobForesight*> locked;
  for (const auto& [id, job] : jobs_) {
    if (job->foresight.locked() && locked.size() < Foretold::kLanesMax) locked.push_back(&job->foresight);
  }
  return locked;
}

void Foreseer::Tell(bool anew) { foretold_.Tell(Locked(), anew, NowUs()); }

// Now and then: jobs that have gone, lanes that have come apart, the price of a search.
void Foreseer::Look() {
  looked_us_ = NowUs();
  watch_.Tick(looked_us_);
  TakeEvents();
  SetPrice();
  if (foretold_.IsStale(Locked())) Tell(true);
}

// A search of all seeds is worth one per cent of what the run still costs; what comes before it costs little.
void Foreseer::SetPrice() {
  double share = 0;
  for (const auto& [id, job] : jobs_) {
    if (!job->inquiry) continue;
    if (!job->inquiry->searching()) {  // a stage of a core-second at most
      share = options_.search_share;
      continue;
    }
    const double seconds = static_cast<double>(looked_us_ - std::min(looked_us_, job->since_us)) / 1e6;
    const double files_per_second = static_cast<double>(job->foresight.reads().size()) / std::max(1.0, seconds);
    const double epoch_seconds = static_cast<double>(store_->summary().file_count) / std::max(1.0, files_per_second);
    const double run = std::max(seconds, kEpochsOfARun * epoch_seconds) * std::thread::hardware_concurrency();
    if (run * kPriceShare >= kSearchPrice) share = options_.search_share;
  }
  if (share == share_) return;
  share_ = share;
  searcher_->AllowShare(share);
}

void Foreseer::Publish() {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [id, job] : jobs_) {
    const std::string name = jobs_.size() == 1 ? "foreseen" : "foreseen_job_" + std::to_string(id);
    std::string text = job->foresight.Describe();
    if (!job->foresight.locked() && !text.empty()) text = "nothing now; last: " + text;
    if (job->inquiry) {
      const std::string asking = job->inquiry->Describe();
      if (!asking.empty()) text = asking + (text.empty() ? "" : "; " + text);
    } else if (!job->foresight.locked() && !job->state.empty()) {
      text = job->state + (text.empty() ? "" : "; " + text);
    }
    if (!text.empty()) facts.emplace_back(name, text);
  }
  for (auto& fact : hints_.Describe()) facts.push_back(std::move(fact));
  const MutexLock lock(mu_);
  facts_ = std::move(facts);
}

}  // namespace augur
