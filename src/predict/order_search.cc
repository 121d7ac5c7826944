// SPDX-License-Identifier: Apache-2.0
#include "predict/order_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "predict/best_guess.h"
#include "predict/later_epochs.h"
#include "predict/list_seeds.h"
#include "samplers/torch_permutation.h"
#include "samplers/torch_recipes.h"

namespace augur {
namespace {

// A guess costs 10 us and less, mostly: 0.6 ms, within the 0.25 to 2 ms of a range of seeds (search_job.cc).
constexpr uint64_t kGuessesARange = 64;
// For the search of all seeds: clues are taken from so many streams at most. One of the first eight workers has read
// the first file; a test of eight clues brings 8 % fewer seeds a second than of one (search_bench).
constexpr size_t kClueStreams = 8;
// And of each from its first places. Where the page cache has half of the files, the first read that is seen is among
// the first four in 15 of 16 epochs, among the first two in three of four.
constexpr uint32_t kUnsurePlaces = 4;
// Behind at most two outputs.
constexpr uint32_t kCluePositionMax = kSeedOutputMax - 2;
constexpr double kSeedBits = 32;

std::string Hex(uint32_t value) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "0x00000000";
  for (size_t i = 0; i < 8; ++i) text[9 - i] = kDigits[(value >> (4 * i)) & 15];
  return text;
}

void AddClue(uint32_t position, uint32_t index, const SeedQuery& query, std::vector<SeedClue>* clues) {
  if (position < query.samples && index >= position) clues->push_back({.position = position, .index = index});
}

// A rank that does not begin at the first place, as its launcher has told it.
void AddRankClues(const IndexReads::Stream& stream, uint32_t places, SeedQuery* query) {
  if (stream.launch.world_size < 2) return;
  for (uint32_t nth = 0; nth <= places; ++nth) {
    const uint64_t position = stream.launch.rank + uint64_t{nth} * stream.launch.world_size;
    if (position > kCluePositionMax) return;
    const auto place = static_cast<uint32_t>(position);
    if (nth < places) AddClue(place, stream.indices[0], *query, &query->any_of);
    if (nth > 0) AddClue(place, stream.indices[1], *query, &query->and_any_of);
  }
}

// What the streams' reads say about the first places of a permutation.
SeedQuery QueryOf(const CandidateScorer& test, uint64_t ranks) {
  SeedQuery query{.samples = static_cast<uint32_t>(test.samples()), .offsets = {0, 2}, .any_of = {}, .and_any_of = {}};
  const auto add = [&](std::vector<SeedClue>& clues, uint32_t position, uint32_t index) {
    AddClue(position, index, query, &clues);
  };
  size_t taken = 0;
  for (const IndexReads::Stream& stream : test.reads().streams) {
    if (stream.indices.size() < 2 || taken++ == kClueStreams) continue;
    // Where earlier reads may not have been seen, the first that was may be at any of the first places.
    const uint32_t places = stream.id != 0 && stream.starts_at_first_read ? 1 : kUnsurePlaces;
    AddRankClues(stream, places, &query);
    for (uint32_t place = 0; place < places; ++place) {
      const size_t reads = stream.id == 0 ? std::min<size_t>(stream.indices.size(), 2 * size_t{kUnsurePlaces}) : 1;
      for (size_t i = 0; i < reads; ++i) add(query.any_of, place, stream.indices[i]);
    }
    for (size_t i = 1; i < std::min<size_t>(stream.indices.size(), stream.id == 0 ? 12 : 3); ++i) {
      for (uint32_t place = 1; place <= places; ++place) add(query.and_any_of, place, stream.indices[i]);
      for (uint64_t rank = 2; rank <= std::min<uint64_t>(ranks, 8); ++rank) {
        add(query.and_any_of, static_cast<uint32_t>(rank), stream.indices[i]);
      }
    }
  }
  return query;
}

// Evidence for a seed that passed the vectors' test.
double TrySeed(const CandidateScorer& test, uint32_t seed, uint32_t offset) {
  // 0.5 us of draws in place of 40 for a whole prefix (4,096). The first two reads of worker 0 are among these, and
  // those of each rank of up to 24.
  constexpr size_t kFew = 48;
  Mt19937 engine(seed);
  engine.Discard(offset);
  IndexOrder prefix;
  TorchPermutation(engine, test.samples(), kFew, &prefix);
  if (!test.Likely(prefix)) return 0;
  TorchPermutation(engine, test.samples(), test.prefix(), &prefix);
  return test.TryPrefix(prefix, test.samples());
}

// What the threads of a stage have found, without a lock that one of them might be stopped with.
struct Hits {
  std::array<std::atomic<uint64_t>, 64> units = {};
  std::atomic<size_t> count = 0;

  void Add(uint64_t unit) {
    const size_t slot = count.fetch_add(1, std::memory_order_relaxed);
    if (slot < units.size()) units[slot].store(unit + 1, std::memory_order_release);
  }
  // In ascending order.
  std::vector<uint64_t> Take() const {
    std::vector<uint64_t> found;
    for (const std::atomic<uint64_t>& slot : units) {
      if (const uint64_t unit = slot.load(std::memory_order_acquire); unit != 0) found.push_back(unit - 1);
    }
    std::ranges::sort(found);
    return found;
  }
};

}  // namespace

OrderSearch::OrderSearch(Searcher& searcher, std::shared_ptr<const std::vector<KnownSampler>> known,
                         SearchRequest request, Answered answered)
    : searcher_(searcher), known_(std::move(known)), request_(std::move(request)), answered_(std::move(answered)) {}

bool OrderSearch::Decidable(const SearchRequest& request) {
  const double tried = std::exp2(kSeedBits) * 2 * static_cast<double>(request.tests.size());
  return std::ranges::any_of(request.tests,
                             [&](const CandidateScorer& test) { return Believed(test.BitsExpected(), tried); });
}

void OrderSearch::Begin() {
  begun_ = std::chrono::steady_clock::now();
  MakeStages();
  Next();
}

void OrderSearch::Cancel() {
  cancelled_ = true;
  uint64_t job = 0;
  {
    const MutexLock lock(mu_);
    job = job_;
  }
  if (job != 0) searcher_.Cancel(job);
}

std::string OrderSearch::Describe() const {
  uint64_t job = 0;
  std::string name;
  {
    const MutexLock lock(mu_);
    job = job_;
    name = stage_name_;
  }
  if (job == 0) return {};
  const std::optional<SearchProgress> progress = searcher_.Progress(job);
  if (!progress) return name;
  return name + ": " + std::to_string(static_cast<int>(progress->fraction * 100)) + " % in " +
         std::to_string(static_cast<uint64_t>(progress->seconds)) + " s";
}

void OrderSearch::MakeStages() {
  // A guess is an epoch of a sampler; there are some hundred thousand of them, so they are not written down.
  std::vector<uint64_t> ends;  // of each sampler's
  uint64_t count = 0;
  for (const KnownSampler& sampler : *known_) ends.push_back(count += sampler.epochs);
  const auto known_guess = [known = known_, ends](uint64_t unit) {
    const auto sampler = static_cast<size_t>(std::ranges::upper_bound(ends, unit) - ends.begin());
    const uint64_t begin = sampler > 0 ? ends[sampler - 1] : 0;
    return Guess{.sampler = (*known)[sampler].sampler, .epoch = unit - begin};
  };
  // A script without a seed draws one for each epoch. The stages of known seeds take seconds of its epoch.
  const bool search_first = request_.drawn;
  if (search_first) AddSeedStages();
  AddGuessStage("known seeds", count, known_guess, false);
  const bool lists_first = request_.lists_first && !search_first;
  if (lists_first) AddListStages();
  // The same in mid-epoch, as many as may be had.
  uint64_t samples = 1;
  for (const CandidateScorer& test : request_.tests) samples += test.samples();
  AddGuessStage("known seeds in mid-epoch", std::min<uint64_t>(count, kMidEpochDraws / samples), known_guess, true);
  if (request_.resumed) {
    // Most runs begin at a beginning: what a core-second has of them before the search of all seeds, the rest behind
    // it.
    const auto later = std::make_shared<const std::vector<Guess>>(LaterEpochs(*known_, kResumedDraws / samples));
    const uint64_t soon = std::min<uint64_t>(later->size(), kMidEpochDraws / samples);
    AddResumedStage(later, 0, soon);
    if (!search_first) AddSeedStages();
    AddResumedStage(later, soon, later->size());
  } else if (!search_first) {
    AddSeedStages();
  }
  if (!lists_first) AddListStages();
}

// Of the later epochs of known seeds in mid-epoch, those from `begin` to `end`.
void OrderSearch::AddResumedStage(const std::shared_ptr<const std::vector<Guess>>& later, uint64_t begin,
                                  uint64_t end) {
  AddGuessStage(
      "later epochs of known seeds in mid-epoch", end - begin,
      [later, begin](uint64_t unit) { return (*later)[begin + unit]; }, true, begin > 0);
}

// Units are guesses times lists. Several guesses may agree equally: the first is taken, and the next epoch tells.
void OrderSearch::AddGuessStage(std::string name, uint64_t count, const std::function<Guess(uint64_t)>& guess_of,
                                bool mid_epoch, bool search) {
  const uint64_t tests = request_.tests.size();
  if (count == 0 || tests == 0) return;
  const double tried = static_cast<double>(count * tests);
  if (!Worth(tried)) return;
  const auto hits = std::make_shared<Hits>();
  const auto self = shared_from_this();
  SearchJob job;
  job.name = std::move(name);
  job.units = count * tests;
  job.range_units = mid_epoch ? 1 : kGuessesARange;
  job.work = [self, guess_of, hits, mid_epoch, tests, tried](uint64_t begin, uint64_t units, SearchTurn& turn) {
    for (uint64_t unit = begin; unit < begin + units; ++unit) {
      const CandidateScorer::Score found = TryGuess(self->request_, unit % tests, guess_of(unit / tests), mid_epoch);
      if (Believed(found.bits, tried)) hits->Add(unit);
      if (!turn.Continue()) return;  // one of a long list takes 10 ms
    }
  };
  job.on_done = [self, guess_of, hits, mid_epoch, tried](const SearchOutcome& outcome) {
    if (outcome.end != SearchEnd::kCancelled) {
      if (auto best = BestOf(self->request_, hits->Take(), guess_of, mid_epoch, tried)) {
        best->identified.how = self->HowFound("known", best->test);
        self->Found(std::move(best->identified));
      }
    }
    self->Next();
  };
  AddStage(std::move(job), search);
}

// Whether the reads are enough to believe a guess of `tried` ones.
bool OrderSearch::Worth(double tried) const {
  return std::ranges::any_of(request_.tests,
                             [&](const CandidateScorer& test) { return Believed(test.BitsMax(), tried); });
}

void OrderSearch::AddStage(SearchJob job, bool search) {
  job.allowance = request_.allowance;
  const MutexLock lock(mu_);
  stages_.push_back({.job = std::move(job), .search = search});
}

// Small sets of seeds that a list is shuffled with from its end: Keras' 10^6, and what people choose.
void OrderSearch::AddListStages() {
  const auto self = shared_from_this();
  for (size_t test = 0; test < request_.tests.size(); ++test) {
    for (const ListShuffler shuffler : {ListShuffler::kNumpyRandomState, ListShuffler::kPython}) {
      std::optional<SearchJob> job =
          MakeListSeedJob(request_.tests[test], shuffler, [self, test](std::optional<IdentifiedOrder> found) {
            if (found) {
              found->how = self->HowFound("found by search", test);
              self->Found(*std::move(found));
            }
            self->Next();
          });
      if (job) AddStage(*std::move(job), false);
    }
  }
}

// Every seed of torch's generator, for an epoch that begins with a fresh one.
void OrderSearch::AddSeedStages() {
  const double tried = std::exp2(kSeedBits) * 2 * static_cast<double>(request_.tests.size());
  for (size_t test = 0; test < request_.tests.size(); ++test) {
    if (!Believed(request_.tests[test].BitsExpected(), tried)) continue;
    const SeedQuery query = QueryOf(request_.tests[test], request_.ranks);
    if (query.any_of.empty()) continue;
    const auto self = shared_from_this();
    const auto bits_of = [self, test](uint32_t seed, uint32_t offset) {
      return TrySeed(self->request_.tests[test], seed, offset);
    };
    SearchJob job = MakeSeedJob(
        query, uint64_t{1} << 32,
        [bits_of, tried](uint32_t seed, uint32_t offset) { return Believed(bits_of(seed, offset), tried); },
        [self, test, tried, bits_of](const SearchOutcome& outcome) {
          if (outcome.end == SearchEnd::kFound) {
            const SeedHit hit = SeedHitOf(outcome.result);
            TorchRecipe recipe = {.name = "torch RandomSampler",
                                  .generator = RunStream{.seed = hit.seed, .offset = hit.offset},
                                  .shape = {}};
            const Guess guess = {.sampler = MakeTorchSampler(std::move(recipe))};
            const double bits = bits_of(hit.seed, hit.offset) - std::log2(tried);
            IdentifiedOrder found = IdentifyForHost(self->request_.tests[test], guess, {.bits = bits}, true).identified;
            found.continues = false;
            found.seed = hit.seed;
            found.offset = hit.offset;
            found.what = "torch RandomSampler, seed " + Hex(hit.seed) + DescribeShare(found.guess.share);
            found.how = self->HowFound("found by search", test);
            self->Found(std::move(found));
          }
          self->Next();
        });
    job.name = "all seeds of torch for " + std::to_string(request_.tests[test].samples()) + " samples";
    AddStage(std::move(job), true);
  }
}

std::string OrderSearch::HowFound(std::string_view how, size_t test) const {
  const auto tenths = (std::chrono::steady_clock::now() - begun_) / std::chrono::milliseconds(100);
  return std::string(how) + " in " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s after " +
         std::to_string(request_.tests[test].reads().count) + " reads";
}

void OrderSearch::Found(IdentifiedOrder found) {
  const MutexLock lock(mu_);
  found_ = std::move(found);
}

// Begins the next stage, or answers.
void OrderSearch::Next() {
  std::optional<SearchJob> job;
  std::optional<IdentifiedOrder> found;
  {
    const MutexLock lock(mu_);
    job_ = 0;
    stage_name_.clear();
    if (!found_ && !cancelled_ && !Spent() && stage_ < stages_.size()) {
      Stage& stage = stages_[stage_++];
      if (stage.search) searched_ = true;
      stage_name_ = stage.job.name;
      job = std::move(stage.job);
    } else {
      stages_.clear();  // they hold this search
      found = std::move(found_);
    }
  }
  if (!job) return answered_(cancelled_ ? std::nullopt : std::move(found));
  const uint64_t number = searcher_.Submit(std::move(*job));
  bool late = false;
  {
    const MutexLock lock(mu_);
    // It may have ended already, and the one after it have begun.
    if (number > job_ && !stage_name_.empty()) job_ = number;
    late = cancelled_;
  }
  if (late) searcher_.Cancel(number);
}

}  // namespace augur
