// SPDX-License-Identifier: Apache-2.0
#include "predict/order_handover.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "base/proc_text.h"
#include "predict/candidate_scorer.h"
#include "predict/epoch_reads.h"
#include "predict/evidence.h"
#include "predict/guess_text.h"
#include "predict/job_history.h"
#include "predict/next_epochs.h"
#include "predict/recognize_run.h"
#include "samplers/sampler_description.h"
#include "samplers/sampler_hint.h"
#include "samplers/stepped_sampler.h"

namespace augur {
namespace {

// An order that was followed a moment ago is likely to be followed still, so half of the bits of a search will do. A
// wrong one costs reads ahead until ten reads in turn have missed it.
constexpr double kBits = CandidateScorer::kBelievedBits / 2;
// Samplers of one name that agree in so many indices are one sampler. By chance 64 of 1,009 (10 bits each) agree once
// in 2^640 times; 32 would do, and 64 take 0.6 us (10 ns a draw).
constexpr size_t kIndicesCompared = 64;

// A word of a command line has none.
constexpr char kBetweenWords = '\0';

static_assert(LastingTexts::kTextsMax == Hints::kHintsMax);

// Whether the reads go on with the order, from anywhere in it, with `bits_min`: then it says so, and begins there.
bool GoesOnWith(const EpochStart& epoch, double bits_min, IdentifiedOrder* order) {
  Evidence evidence(order->order->size(), false);
  uint32_t begin = std::numeric_limits<uint32_t>::max();
  for (const EpochStream& stream : epoch.streams) {
    const std::span<const FirstRead> reads = stream.reads;
    for (const FirstRead& read : reads.first(std::min(reads.size(), CandidateScorer::kReadsAStream))) {
      const std::optional<uint32_t> place = evidence.AddRead(order->order->PlacesOf(read.file), stream.id);
      if (place) begin = std::min(begin, *place);
    }
  }
  if (evidence.bits() < bits_min) return false;
  order->begin = begin;
  order->bits = evidence.bits() - bits_min + kBits;
  order->how = "taken over after " + std::to_string(ReadsOf(epoch)) + " reads";
  return true;
}

// Of Hints::Words. The store may have more files than the one for which the hint was given.
std::optional<Hints::Earlier> ReadHint(std::span<const std::string_view> words, uint64_t files) {
  if (words.size() < 3) return std::nullopt;
  Hints::Earlier earlier;
  const std::string_view epoch = words[0];
  if (std::from_chars(epoch.data(), epoch.data() + epoch.size(), earlier.last_epoch).ec != std::errc()) {
    return std::nullopt;
  }
  earlier.list = words[1];
  const Result<SamplerHint> hint = ParseSamplerHint(std::vector<std::string>(words.begin() + 2, words.end()));
  if (!hint.ok()) return std::nullopt;
  Result<SamplerDescription> description = ResolveSamplerHint(*hint);
  if (!description.ok()) return std::nullopt;
  earlier.spec = *std::move(description);
  SamplerDescription farthest = earlier.spec;
  farthest.first_epoch = std::max(farthest.first_epoch, earlier.last_epoch);
  if (const Status reach = farthest.CheckReach(files); !reach.ok()) {
    spdlog::warn("the hint '{}' is dropped: {}", earlier.spec.Describe(), reach.text());
    return std::nullopt;
  }
  return earlier;
}

}  // namespace

// Not in the constructor: the daemon before may go on for a while, and what it writes last counts.
void OrderHandover::Load() {
  if (!places_.empty() || parts_.lasting == nullptr) return;
  for (LastingTexts::Text& text : parts_.lasting->followed.texts) {
    Place& place =
        places_.emplace_back(Place{.text = &text, .earlier = ParseFollowed(text.Read()), .job = {}, .dataset = {}});
    if (!place.earlier) Free(&place);
  }
}

void OrderHandover::Free(Place* place) {
  place->text->Clear();
  place->earlier.reset();
  place->job.reset();
}

OrderHandover::Place* OrderHandover::PlaceOf(JobId job, const std::string& dataset) {
  const auto place =
      std::ranges::find_if(places_, [&](const Place& one) { return one.job == job && one.dataset == dataset; });
  return place != places_.end() ? &*place : nullptr;
}

std::optional<IdentifiedOrder> OrderHandover::Find(const EpochStart& epoch) {
  Load();
  const auto earlier = std::ranges::count_if(places_, [](const Place& place) { return place.earlier.has_value(); });
  const double bits_min = kBits + std::log2(2 * static_cast<double>(earlier));
  for (Place& place : places_) {
    if (!place.earlier) continue;
    std::optional<IdentifiedOrder> order = Make(*place.earlier);
    if (!order) continue;
    if (!GoesOnWith(epoch, bits_min, &*order)) {
      // The daemon may have died at the end of an epoch, or in a validation behind it.
      order = OrderAfter(*order);
      if (!order || !GoesOnWith(epoch, bits_min, &*order)) continue;
    }
    std::string dataset = JobHistory::DatasetOf(*order);
    if (Place* const before = PlaceOf(epoch.job, dataset); before != nullptr) Free(before);
    place.earlier.reset();
    place.job = epoch.job;
    place.dataset = std::move(dataset);
    return order;
  }
  return std::nullopt;
}

void OrderHandover::Follow(JobId job, const IdentifiedOrder& order) {
  if (parts_.lasting == nullptr) return;
  Load();
  const FollowedOrder followed = Describe(order);
  const std::string dataset = JobHistory::DatasetOf(order);
  Place* place = PlaceOf(job, dataset);
  if (followed.samplers.empty() && followed.run.empty()) {
    if (place != nullptr) Free(place);
    return;
  }
  if (place == nullptr) {
    place = &*std::ranges::min_element(places_, {}, [](const Place& one) {
      return one.IsFree() ? 0 : one.earlier ? 1 : 2 + one.written;
    });
  }
  *place = {.text = place->text, .earlier = {}, .job = job, .dataset = dataset, .written = ++follows_};
  place->text->Write(RenderFollowed(followed));
}

void OrderHandover::Leave(JobId job) {
  for (Place& place : places_) {
    if (place.job == job) Free(&place);
  }
}

void OrderHandover::Tick(uint64_t now_us) {
  if (!first_us_) first_us_ = now_us;
  if (now_us - *first_us_ < kTakeUs) return;
  for (Place& place : places_) {
    if (place.earlier) Free(&place);
  }
}

std::vector<Hints::Earlier> OrderHandover::TakeHints() {
  std::vector<Hints::Earlier> hints;
  if (std::exchange(hints_taken_, true) || parts_.lasting == nullptr) return hints;
  for (const LastingTexts::Text& text : parts_.lasting->hints.texts) {
    const std::string written = text.Read();
    if (std::optional<Hints::Earlier> hint = ReadHint(Split(written, kBetweenWords), parts_.files)) {
      hints.push_back(*std::move(hint));
    }
  }
  std::ranges::reverse(hints);
  return hints;
}

void OrderHandover::WriteHints() {
  if (!hints_taken_ || parts_.lasting == nullptr) return;
  std::vector<std::vector<std::string>> hints = parts_.hints.Words();
  if (hints == hints_) return;
  hints_ = std::move(hints);
  for (size_t nth = 0; nth < LastingTexts::kTextsMax; ++nth) {
    LastingTexts::Text& text = parts_.lasting->hints.texts[nth];
    nth < hints_.size() ? text.Write(fmt::to_string(fmt::join(hints_[nth], std::string_view(&kBetweenWords, 1))))
                        : text.Clear();
  }
}

FollowedOrder OrderHandover::Describe(const IdentifiedOrder& order) const {
  FollowedOrder followed;
  followed.share = order.guess.share;
  followed.share_given = order.guess.share_given;
  followed.piece_guessed = order.piece_guessed;
  followed.run = order.run;
  followed.run_epoch = order.run_epoch;
  followed.continues = order.continues;
  followed.seed = order.seed;
  followed.offset = order.offset;
  followed.what = order.what;
  if (order.list) {
    const Guess guess = Unstepped(order.guess);
    followed.rule = order.list->rule();
    followed.root = order.list->root();
    followed.epoch = guess.epoch;
    followed.samplers = NamesOf(guess);
    if (const auto* stepped = dynamic_cast<const SteppedSampler*>(order.guess.sampler.get())) {
      followed.step = stepped->step();
    }
  }
  return followed;
}

// By each of which the next daemon makes the same epoch; empty: there is none.
std::vector<std::string> OrderHandover::NamesOf(const Guess& guess) const {
  std::vector<std::string> names;
  constexpr uint64_t kSamples = 1009;  // a prime: neither ranks nor batches divide it
  IndexOrder own;
  guess.sampler->Take(kSamples, guess.epoch, kIndicesCompared, &own);
  for (const std::string& name : {guess.sampler->Describe(), RenderGuess(guess)}) {
    const std::optional<Guess> other = GuessOf(name, guess.epoch);
    if (!other) continue;
    IndexOrder same;
    other->sampler->Take(kSamples, other->epoch, kIndicesCompared, &same);
    if (own == same) names.push_back(name);
  }
  return names;
}

std::optional<Guess> OrderHandover::GuessOf(const std::string& name, uint64_t epoch) const {
  if (std::shared_ptr<const Sampler> hinted = parts_.hints.Find(name)) {
    return Guess{.sampler = std::move(hinted), .epoch = epoch};
  }
  for (const KnownSampler& known : *parts_.known) {
    if (known.sampler->Describe() == name) return Guess{.sampler = known.sampler, .epoch = epoch};
  }
  return ParseGuess(name);
}

std::optional<Guess> OrderHandover::GuessOf(const FollowedOrder& order, uint64_t samples) const {
  for (const std::string& name : order.samplers) {
    std::optional<Guess> guess = GuessOf(name, order.epoch);
    if (!guess) continue;
    if (guess->sampler->StepsTo(samples, guess->epoch) > SamplerDescription::kStepsMax) return std::nullopt;
    if (order.step) {
      guess->sampler = std::make_shared<const SteppedSampler>(guess->sampler, *order.step, guess->epoch, guess->epoch);
    }
    guess->share = order.share;
    guess->share_given = order.share_given;
    return guess;
  }
  return std::nullopt;
}

std::optional<IdentifiedOrder> OrderHandover::Make(const FollowedOrder& order) const {
  IdentifiedOrder made;
  if (!order.run.empty()) {
    if (parts_.runs == nullptr) return std::nullopt;
    std::optional<IdentifiedOrder> recorded = LoadRecorded(*parts_.runs, order.run, order.run_epoch);
    if (!recorded) return std::nullopt;
    made = *std::move(recorded);
  } else {
    const Result<std::shared_ptr<const SampleList>> list = parts_.lists.Make(order.rule, order.root);
    if (!list.ok() || (*list)->size() == 0) return std::nullopt;
    const std::optional<Guess> guess = GuessOf(order, (*list)->size());
    if (!guess) return std::nullopt;
    made = MakeIdentifiedOrder(*list, *guess);
  }
  if (made.order->size() == 0) return std::nullopt;
  made.piece_guessed = order.piece_guessed;
  made.continues = order.continues;
  made.seed = order.seed;
  made.offset = order.offset;
  made.what = order.what;
  return made;
}

}  // namespace augur
