// SPDX-License-Identifier: Apache-2.0
#include "predict/order_handover.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "predict/candidate_scorer.h"
#include "predict/epoch_reads.h"
#include "predict/evidence.h"
#include "predict/guess_text.h"
#include "predict/next_epochs.h"
#include "predict/recognize_run.h"
#include "samplers/sampler_hint.h"

namespace augur {
namespace {

// An order that was followed a moment ago is likely to be followed still, so half of the bits of a
// search will do. A wrong one costs reads ahead until ten reads in turn have missed it.
constexpr double kBits = CandidateScorer::kBelievedBits / 2;
// Samplers of one name that agree in so many indices are one sampler.
constexpr size_t kIndicesCompared = 64;

static_assert(LastingTexts::kTextsMax == Hints::kHintsMax);

// A word of a command line has no zero byte.
std::string JoinWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(word).push_back('\0');
  return text;
}
std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  for (size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return words;
}

CandidateScorer::Midst CompareFromAnywhere(const EpochOrder& order, const EpochStart& epoch) {
  Evidence evidence(order.size(), false);
  uint32_t begin = std::numeric_limits<uint32_t>::max();
  for (const EpochStream& stream : epoch.streams) {
    const std::span<const FirstRead> reads = stream.reads;
    for (const FirstRead& read : reads.first(std::min(reads.size(), CandidateScorer::kReadsAStream))) {
      const std::optional<uint32_t> place = evidence.Saw(order.PlacesOf(read.file), stream.id);
      if (place) begin = std::min(begin, *place);
    }
  }
  return {.bits = evidence.bits(), .begin = begin};
}

// A daemon may have died at the end of an epoch: the order, and that of the epoch after it.
std::vector<IdentifiedOrder> WithNext(IdentifiedOrder order) {
  std::vector<IdentifiedOrder> orders;
  if (!order.recorded.empty()) {
    orders.push_back(ContinueRecorded(order));
  } else if (const std::optional<Guess> next = PredictedAfter(order)) {
    orders.push_back(Continue(order, *next));
  }
  orders.insert(orders.begin(), std::move(order));
  return orders;
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
  for (auto it = earlier_.begin(); it != earlier_.end(); ++it) {
    std::optional<IdentifiedOrder> made = Make(it->order);
    if (!made) continue;
    for (IdentifiedOrder& order : WithNext(*std::move(made))) {
      const CandidateScorer::Midst found = CompareFromAnywhere(*order.order, epoch);
      const double bits = found.bits - std::log2(2 * static_cast<double>(earlier_.size()));
      if (bits < kBits) continue;
      order.begin = found.begin;
      order.bits = bits;
      order.how = "taken over after " + std::to_string(ReadsOf(epoch)) + " reads";
      Leave(epoch.job);
      written_[epoch.job] = it->text;
      earlier_.erase(it);
      return std::move(order);
    }
  }
  return std::nullopt;
}

void OrderHandover::Follow(JobId job, const IdentifiedOrder& order) {
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

std::vector<SamplerDescription> OrderHandover::TakeHints() const {
  std::vector<SamplerDescription> hints;
  if (parts_.lasting == nullptr) return hints;
  for (const LastingTexts::Text& text : parts_.lasting->hints.texts) {
    const Result<SamplerHint> hint = ParseSamplerHint(SplitWords(text.Read()));
    if (!hint.ok()) continue;
    Result<SamplerDescription> description = ResolveSamplerHint(*hint);
    if (description.ok()) hints.push_back(*std::move(description));
  }
  std::ranges::reverse(hints);
  return hints;
}

void OrderHandover::WriteHints() {
  if (parts_.lasting == nullptr) return;
  std::vector<std::vector<std::string>> hints = parts_.hints.Words();
  if (hints == hints_) return;
  hints_ = std::move(hints);
  for (size_t nth = 0; nth < LastingTexts::kTextsMax; ++nth) {
    LastingTexts::Text& text = parts_.lasting->hints.texts[nth];
    nth < hints_.size() ? text.Write(JoinWords(hints_[nth])) : text.Clear();
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
  constexpr uint64_t kSamples = 1009;
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
