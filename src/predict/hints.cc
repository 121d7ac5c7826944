// SPDX-License-Identifier: Apache-2.0
#include "predict/hints.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "predict/best_guess.h"
#include "predict/next_epochs.h"
#include "predict/try_known_samplers.h"
#include "samplers/torch_recipes.h"

namespace augur {
namespace {

// From so many reads on, an epoch may be looked for that was begun in its midst (kMidEpochDraws). The first read of
// each process says nothing there. With eight workers four of 12 do, 12 bits each in 12,000 files; of six none would.
constexpr uint64_t kReadsMidEpoch = 12;
// An epoch may draw more indices than there are samples, of repeated augmentation three times as many. A mistyped
// --draws of 4 x 10^9 does not get its 16 GB, but 16 x 1.28 million indices of 4 bytes, 82 MB, or 64 MiB at least.
constexpr uint64_t kRepeatsMax = 16;
constexpr uint64_t kIndicesMin = uint64_t{1} << 24;

// What the ranks of this host read of a hint's epochs.
class HintedSampler final : public Sampler {
 public:
  explicit HintedSampler(SamplerDescription spec) : spec_(std::move(spec)) {}

  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override {
    const uint64_t indices_max = std::max(kRepeatsMax * samples, kIndicesMin);
    spec_.Take(samples, epoch, std::min<uint64_t>(count, indices_max), indices);
  }
  std::string Describe() const override {
    if (spec_.share.world_size == 1) return spec_.sampler->Describe();
    return spec_.sampler->Describe() + ", " + spec_.share.Describe();
  }

 private:
  const SamplerDescription spec_;
};

double Price(size_t tried) { return CandidateScorer::kBelievedBits + std::log2(static_cast<double>(tried)); }

// Whether the files are read in the order of a list, by one process or several.
bool InListOrder(const std::vector<CandidateScorer>& tests) {
  TorchRecipe recipe = {.name = "list order", .generator = FreshSeed{}, .shape = {}, .draw = TorchRecipe::Draw::kNone};
  const auto list_order = MakeTorchSampler(std::move(recipe));
  return std::ranges::any_of(
      tests, [&](const CandidateScorer& test) { return test.TryMidEpoch(*list_order, 0).bits >= Price(tests.size()); });
}

}  // namespace

void Hints::Add(SamplerDescription spec, std::unordered_map<JobId, uint32_t> running) {
  const std::string text = spec.Describe();
  spdlog::info("hint: {}", text);
  std::erase_if(hints_, [&](const Hint& hint) { return hint.spec.Describe() == text; });
  Hint hint = {.spec = spec,
               .sampler = std::make_shared<const HintedSampler>(std::move(spec)),
               .running = std::move(running),
               .job = {},
               .list = {},
               .last_epoch = 0,
               .is_earlier = false,
               .seed_place = {}};
  hint.last_epoch = hint.spec.first_epoch;
  hints_.insert(hints_.begin(), std::move(hint));
  if (hints_.size() <= kHintsMax) return;
  Drop(hints_.back(), "there are " + std::to_string(kHintsMax) + " newer ones", 0, 0);
  hints_.pop_back();
}

void Hints::AddEarlier(Earlier earlier) {
  Add(std::move(earlier.spec), {});
  Hint& hint = hints_.front();
  hint.is_earlier = true;
  hint.last_epoch = earlier.last_epoch;
  hint.list = std::move(earlier.list);
}

std::vector<std::vector<std::string>> Hints::Words() const {
  std::vector<std::vector<std::string>> words;
  words.reserve(hints_.size());
  for (const Hint& hint : hints_) {
    words.push_back({std::to_string(hint.last_epoch), hint.list});
    words.back().insert(words.back().end(), hint.spec.words.begin(), hint.spec.words.end());
  }
  return words;
}

std::shared_ptr<const Sampler> Hints::Find(std::string_view described) const {
  const auto found =
      std::ranges::find_if(hints_, [&](const Hint& hint) { return hint.sampler->Describe() == described; });
  return found != hints_.end() ? found->sampler : nullptr;
}

// The epoch before is the running one when the hint was given in its midst; where the run begins anew, it goes on about
// where it was.
std::vector<Guess> Hints::Guesses() const {
  std::vector<Guess> guesses;
  for (const Hint& hint : hints_) {
    std::vector<uint64_t> epochs = {hint.spec.first_epoch, hint.spec.first_epoch + 1};
    if (hint.spec.first_epoch > 0) epochs.push_back(hint.spec.first_epoch - 1);
    for (const uint64_t epoch : {hint.last_epoch, hint.last_epoch + 1}) {
      if (std::ranges::find(epochs, epoch) == epochs.end()) epochs.push_back(epoch);
    }
    const bool given = hint.spec.share.world_size > 1;
    for (const uint64_t epoch : epochs) {
      guesses.push_back({.sampler = hint.sampler, .epoch = epoch, .share_given = given});
    }
  }
  return guesses;
}

std::vector<uint32_t> Hints::StreamSeeds() const {
  std::vector<uint32_t> seeds;
  for (const Hint& hint : hints_) {
    if (hint.spec.stream_seed) seeds.push_back(static_cast<uint32_t>(*hint.spec.stream_seed));
  }
  return seeds;
}

std::optional<IdentifiedOrder> Hints::Answer(std::vector<CandidateScorer> tests, std::vector<Guess> expected) const {
  if (hints_.empty() || tests.empty()) return std::nullopt;
  SearchRequest request;
  request.tests = std::move(tests);
  request.expected = std::move(expected);
  std::erase_if(request.expected, [&](const Guess& guess) { return !Has(guess); });
  const std::vector<Guess> hinted = Guesses();
  request.expected.insert(request.expected.end(), hinted.begin(), hinted.end());
  if (std::optional<IdentifiedOrder> found = TryKnownSamplers(request, {})) {
    found->how = "as hinted, " + found->how;
    return found;
  }
  uint64_t draws = 0;
  const double price = Price(request.expected.size() * request.tests.size());
  // Before what the job's own epochs let one expect: that an epoch is taken again and again is not shown by its midst.
  std::ranges::rotate(request.expected, request.expected.end() - static_cast<std::ptrdiff_t>(hinted.size()));
  for (const CandidateScorer& test : request.tests) {
    if (test.reads().count < kReadsMidEpoch) continue;
    for (const Guess& guess : request.expected) {
      draws += test.samples();
      if (draws > kMidEpochDraws && draws > test.samples()) return std::nullopt;
      const CandidateScorer::Score score = test.TryMidEpoch(*guess.sampler, guess.epoch);
      if (score.bits < price) continue;
      IdentifiedOrder found = IdentifyForHost(test, guess, score, false).identified;
      found.bits += CandidateScorer::kBelievedBits - price;
      found.how = "as hinted, found in mid-epoch after " + std::to_string(test.reads().count) + " reads";
      return found;
    }
  }
  return std::nullopt;
}

bool Hints::Has(const Guess& guess) const {
  const Guess plain = Unstepped(guess);
  return std::ranges::any_of(hints_, [&](const Hint& hint) { return hint.sampler == plain.sampler; });
}

void Hints::Agree(JobId job, const IdentifiedOrder& found) {
  const Guess plain = Unstepped(found.guess);
  for (Hint& hint : hints_) {
    if (hint.sampler != plain.sampler) continue;
    hint.job = job;
    hint.list = found.list->name();
    hint.last_epoch = plain.epoch;
  }
}

bool Hints::Denies(const Hint& hint, JobId job, uint32_t pass, const std::vector<CandidateScorer>& tests) const {
  if (hint.is_earlier && pass == 0) return false;
  if (const auto running = hint.running.find(job); running != hint.running.end() && pass <= running->second) {
    return false;
  }
  if (hint.job && *hint.job != job) return false;
  return hint.list.empty() ||
         std::ranges::any_of(tests, [&](const CandidateScorer& test) { return test.list().name() == hint.list; });
}

void Hints::Deny(JobId job, uint32_t pass, const std::vector<CandidateScorer>& tests, bool searching) {
  if (hints_.empty() || tests.empty() || InListOrder(tests)) return;
  std::erase_if(hints_, [&](const Hint& hint) {
    if ((searching && hint.spec.stream_seed) || !Denies(hint, job, pass, tests)) return false;
    Drop(hint, hint.list.empty() ? "what is read does not agree with it" : "what is read no longer agrees with it", job,
         pass);
    return true;
  });
}

void Hints::Searched(JobId job, uint32_t pass, uint32_t stream_seed, std::optional<uint64_t> position) {
  std::erase_if(hints_, [&](Hint& hint) {
    if (!hint.spec.stream_seed || static_cast<uint32_t>(*hint.spec.stream_seed) != stream_seed) return false;
    if (hint.job && *hint.job != job) return false;
    if (position) {
      hint.job = job;
      hint.seed_place = "the seed of an epoch may be output " + std::to_string(*position) + " of its stream";
      spdlog::info("the hint '{}': {}", hint.spec.Describe(), hint.seed_place);
      return false;
    }
    Drop(hint, "the stream of its seed does not have the seed of the epoch that is read", job, pass);
    return true;
  });
}

void Hints::Ended(JobId job) {
  for (Hint& hint : hints_) {
    hint.running.erase(job);
    if (hint.job == job) hint.job.reset();
  }
}

void Hints::Drop(const Hint& hint, const std::string& why, JobId job, uint32_t pass) {
  dropped_.push_back({.text = "'" + hint.spec.Describe() + "': " + why, .job = job, .pass = pass});
  if (dropped_.size() > kHintsMax) dropped_.erase(dropped_.begin());
  spdlog::warn("the hint {}: dropped", dropped_.back().text);
}

void Hints::Found(JobId job, uint32_t pass, const IdentifiedOrder& found) {
  const bool hinted = Has(found.guess);
  std::erase_if(dropped_, [&](const Dropped& dropped) { return hinted || dropped.job != job || dropped.pass != pass; });
  if (hinted) Agree(job, found);
}

std::vector<std::pair<std::string, std::string>> Hints::Describe() const {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](const std::string& name, size_t number, std::string text) {
    facts.emplace_back(number == 0 ? name : name + "_" + std::to_string(number + 1), std::move(text));
  };
  for (size_t i = 0; i < hints_.size(); ++i) {
    const Hint& hint = hints_[i];
    std::string state = "no epoch agrees yet";
    if (!hint.list.empty()) {
      state = "agrees with epoch " + std::to_string(hint.last_epoch) + " of " + hint.list;
    } else if (!hint.seed_place.empty()) {
      state = hint.seed_place;
    }
    add("hint", i, hint.spec.Describe() + ": " + state);
  }
  for (size_t i = 0; i < dropped_.size(); ++i) add("hint_dropped", i, dropped_[i].text);
  return facts;
}

}  // namespace augur
