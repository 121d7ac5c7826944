// SPDX-License-Identifier: Apache-2.0
#include "predict/order_handover.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "base/proc_text.h"
#include "predict/candidate_scorer.h"
#include "predict/epoch_reads.h"
#include "predict/evidence.h"
#include "predict/guess_text.h"
#include "predict/next_epochs.h"
#include "predict/recognize_run.h"
#include "samplers/sampler_hint.h"

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

// Whether the reads go on with the order, from anywhere in it, with so many bits: then it says so, and begins there.
bool GoesOnWith(const EpochStart& epoch, double bits_min, IdentifiedOrder* order) {
  Evidence evidence(order->order->size(), false);
  uint32_t begin = std::numeric_limits<uint32_t>::max();
  for (const EpochStream& stream : epoch.streams) {
    const std::span<const FirstRead> reads = stream.reads;
    for (const FirstRead& read : reads.first(std::min(reads.size(), CandidateScorer::kReadsAStream))) {
      const std::optional<uint32_t> place = evidence.Saw(order->order->PlacesOf(read.file), stream.id);
      if (place) begin = std::min(begin, *place);
    }
  }
  if (evidence.bits() < bits_min) return false;
  order->begin = begin;
  order->bits = evidence.bits() - bits_min + kBits;
  order->how = "taken over after " + std::to_string(ReadsOf(epoch)) + " reads";
  return true;
}

}  // namespace

// Not in the constructor: the daemon before may go on for a while, and what it writes last counts.
void OrderHandover::Load() {
  if (loaded_ || parts_.lasting == nullptr) return;
  loaded_ = true;
  for (LastingTexts::Text& text : parts_.lasting->followed.texts) {
    if (std::optional<FollowedOrder> order = ParseFollowed(text.Read())) {
      earlier_.push_back({.text = &text, .order = *std::move(order)});
    } else {
      text.Clear();
      free_.push_back(&text);
    }
  }
}

void OrderHandover::DropEarlier() {
  for (const Earlier& earlier : earlier_) {
    earlier.text->Clear();
    free_.push_back(earlier.text);
  }
  earlier_.clear();
}

std::optional<IdentifiedOrder> OrderHandover::Find(const EpochStart& epoch) {
  Load();
  const double bits_min = kBits + std::log2(2 * static_cast<double>(earlier_.size()));
  for (auto it = earlier_.begin(); it != earlier_.end(); ++it) {
    std::optional<IdentifiedOrder> order = Make(it->order);
    if (!order) continue;
    if (!GoesOnWith(epoch, bits_min, &*order)) {
      // The daemon may have died at the end of an epoch.
      order = OrderAfter(*order);
      if (!order || !GoesOnWith(epoch, bits_min, &*order)) continue;
    }
    Leave(epoch.job);
    written_[epoch.job] = it->text;
    earlier_.erase(it);
    return order;
  }
  return std::nullopt;
}

void OrderHandover::Follow(JobId job, const IdentifiedOrder& order) {
  if (parts_.lasting == nullptr) return;
  Load();
  const FollowedOrder followed = Describe(order);
  if (followed.samplers.empty() && followed.run.empty()) return Leave(job);
  const auto [at, is_new] = written_.try_emplace(job, nullptr);
  if (is_new) {
    if (free_.empty()) {
      written_.erase(at);
      return;
    }
    at->second = free_.back();
    free_.pop_back();
  }
  at->second->Write(RenderFollowed(followed));
}

void OrderHandover::Leave(JobId job) {
  const auto at = written_.find(job);
  if (at == written_.end()) return;
  at->second->Clear();
  free_.push_back(at->second);
  written_.erase(at);
}

std::vector<SamplerDescription> OrderHandover::TakeHints() {
  std::vector<SamplerDescription> hints;
  if (std::exchange(hints_taken_, true) || parts_.lasting == nullptr) return hints;
  for (const LastingTexts::Text& text : parts_.lasting->hints.texts) {
    const std::string written = text.Read();
    const std::vector<std::string_view> words = Split(written, kBetweenWords);
    const Result<SamplerHint> hint = ParseSamplerHint(std::vector<std::string>(words.begin(), words.end()));
    if (!hint.ok()) continue;
    Result<SamplerDescription> description = ResolveSamplerHint(*hint);
    if (description.ok()) hints.push_back(*std::move(description));
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

std::optional<IdentifiedOrder> OrderHandover::Make(const FollowedOrder& order) const {
  IdentifiedOrder made;
  if (!order.run.empty()) {
    if (parts_.runs == nullptr) return std::nullopt;
    std::optional<IdentifiedOrder> recorded = LoadRecorded(*parts_.runs, order.run, order.run_epoch);
    if (!recorded) return std::nullopt;
    made = *std::move(recorded);
  } else {
    const Result<std::shared_ptr<const SampleList>> list = parts_.lists.Make(order.rule, order.root);
    std::optional<Guess> guess;
    for (const std::string& name : order.samplers) {
      if (!guess) guess = GuessOf(name, order.epoch);
    }
    if (!list.ok() || !guess || (*list)->size() == 0) return std::nullopt;
    guess->share = order.share;
    guess->share_given = order.share_given;
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
