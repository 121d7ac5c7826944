// SPDX-License-Identifier: Apache-2.0
#include "predict/try_known_samplers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "predict/best_guess.h"
#include "predict/next_epochs.h"
#include "samplers/torch_permutation.h"
#include "samplers/torch_recipes.h"

namespace augur {
namespace {

// A run is mostly seen from its beginning. These are 900 guesses, 5 ms for each list of 2,500 samples, and ten times as
// many variants, 80 ms.
constexpr uint64_t kEpochsAtOnce = 3;
// In the midst of an epoch it costs all draws of the epoch, 10 ns each: 0.2 s. These are all 900 guesses for 20,000
// samples, and for ImageNet's the first epochs of what frameworks do by default.
constexpr uint64_t kMidEpochDrawsAtOnce = 20'000'000;
// More of them are places in the stream of a seed, of which all are begun at their first place. Where a seed was
// searched for, eight others follow from it (next_epochs.cc), in each of four datasets (JobWatch::kDatasetsMax).
constexpr size_t kExpectedMidEpoch = 32;
// A small model, or none, before the first epoch's seed is drawn. Big models move the stream by millions; then the
// search of all seeds comes first, and the stream after it. They take 0.1 s, once (FirstsOfStreams), and as candidates
// 18 bits (log2(47 * 4,096)), a read and a half in 12,000 files.
constexpr uint64_t kStreamOutputs = 4096;
// What a plain loop draws in an epoch (torch's DataLoader and RandomSampler two each).
constexpr uint64_t kLoopStride = 4;
// Of the 192,512 seeds one in n begins with the first read of a stream: in 12,000 files 16 for each stream, 128 in all,
// which are tried in some milliseconds.
constexpr size_t kStreamsLookedAt = 8;

bool IsStopped(const SearchRequest& question) { return question.stopped && question.stopped(); }

// The best of the guesses that is believed though so many sets of as many were tried. The costly are tried where the
// right one would be believed, the others where it might be.
std::optional<IdentifiedOrder> BestAtOnce(const SearchRequest& question, const std::vector<Guess>& guesses, double sets,
                                          bool costly, bool mid_epoch = false) {
  const uint64_t tests = question.tests.size();
  const double tried = sets * static_cast<double>(guesses.size() * tests);
  std::vector<uint64_t> believed;
  for (uint64_t test = 0; test < tests; ++test) {
    const CandidateScorer& held = question.tests[test];
    if (!Believed(costly ? held.BitsExpected() : held.BitsMax(), tried)) continue;
    for (uint64_t guess = 0; guess < guesses.size(); ++guess) {
      if (IsStopped(question)) return std::nullopt;
      const uint64_t unit = guess * tests + test;
      if (Believed(TryGuess(question, test, guesses[guess], mid_epoch).bits, tried)) believed.push_back(unit);
    }
  }
  std::ranges::sort(believed);
  std::optional<BestGuess> best = BestOf(
      question, believed, [&](uint64_t guess) { return guesses[guess]; }, mid_epoch, tried);
  // Where more reads will tell which part of it this host reads, they are waited for.
  if (!best || best->open || best->identified.bits < CandidateScorer::kBelievedBits) return std::nullopt;
  best->identified.how = "known after " + std::to_string(question.tests[best->test].reads().count) + " reads";
  return std::move(best->identified);
}

// In the midst of an epoch: what may follow from the epoch before, and the first epochs of known samplers, epoch 0 of
// all of them first. As many as kMidEpochDrawsAtOnce allows.
std::vector<Guess> MidEpochGuesses(const SearchRequest& question, const std::vector<KnownSampler>& known) {
  const size_t expected = std::min(question.expected.size(), kExpectedMidEpoch);
  std::vector<Guess> guesses(question.expected.begin(),
                             question.expected.begin() + static_cast<std::ptrdiff_t>(expected));
  for (uint64_t epoch = 0; epoch < kEpochsAtOnce && question.variants; ++epoch) {
    for (const KnownSampler& sampler : known) {
      using enum KnownSampler::Likelihood;
      if (sampler.likelihood == kDistant || sampler.likelihood == kVariant || epoch >= sampler.epochs) continue;
      guesses.push_back({.sampler = sampler.sampler, .epoch = epoch});
    }
  }
  uint64_t samples = 1;
  for (const CandidateScorer& test : question.tests) samples += test.samples();
  guesses.resize(std::min<size_t>(guesses.size(), kMidEpochDrawsAtOnce / samples));
  return guesses;
}

struct FirstOfStream {
  uint32_t stream_seed = 0;
  std::vector<uint32_t> firsts;  // of a generator with each of its outputs as seed
};

// For all common seeds: 47 seeds of 4,096 outputs at 0.5 us are 96 ms, and 770 KB, so it is done once.
const std::vector<FirstOfStream>& FirstsOfStreams() {
  static const std::vector<FirstOfStream> all = [] {
    std::vector<FirstOfStream> made;
    for (const uint32_t stream_seed : StreamSeeds({})) {
      FirstOfStream& one = made.emplace_back(FirstOfStream{.stream_seed = stream_seed, .firsts = {}});
      one.firsts.reserve(kStreamOutputs);
      Mt19937 stream(stream_seed);
      while (one.firsts.size() < kStreamOutputs) one.firsts.push_back(FirstOutputs(stream.Next(), 1)[0]);
    }
    return made;
  }();
  return all;
}

uint32_t OutputOf(uint32_t stream_seed, uint64_t position) {
  Mt19937 stream(stream_seed);
  stream.Discard(position);
  return stream.Next();
}

}  // namespace

std::optional<IdentifiedOrder> TryKnownSamplers(const SearchRequest& question, const std::vector<KnownSampler>& known) {
  // Those of one kind may agree equally, so they are tried together. The variants are tried when nothing else is it.
  std::vector<Guess> likely = question.expected;
  std::vector<Guess> variants;
  for (const KnownSampler& sampler : known) {
    if (sampler.likelihood == KnownSampler::Likelihood::kDistant) continue;
    const bool variant = sampler.likelihood == KnownSampler::Likelihood::kVariant;
    if (variant && !question.variants) continue;
    std::vector<Guess>& guesses = variant ? variants : likely;
    for (uint64_t epoch = 0; epoch < std::min(sampler.epochs, kEpochsAtOnce); ++epoch) {
      guesses.push_back({.sampler = sampler.sampler, .epoch = epoch});
    }
  }
  constexpr double kSets = 2;
  std::optional<IdentifiedOrder> identified = BestAtOnce(question, likely, kSets, false);
  return identified ? std::move(identified) : BestAtOnce(question, variants, kSets, true);
}

std::optional<IdentifiedOrder> TryKnownSamplersMidEpoch(const SearchRequest& question,
                                                        const std::vector<KnownSampler>& known) {
  return BestAtOnce(question, MidEpochGuesses(question, known), 1, true, true);
}

// A seed is worth a look when its permutation begins with the first read of a stream.
std::optional<IdentifiedOrder> AnswerFromStreams(const SearchRequest& question) {
  const std::vector<FirstOfStream>& streams = FirstsOfStreams();
  const double tried = static_cast<double>(streams.size() * kStreamOutputs * question.tests.size());
  for (const CandidateScorer& test : question.tests) {
    if (!Believed(test.BitsMax(), tried)) continue;
    const auto samples = static_cast<uint32_t>(test.samples());
    IndexOrder begun;
    for (const IndexReads::Stream& stream : test.reads().streams) begun.push_back(stream.indices[0]);
    if (begun.size() > kStreamsLookedAt) begun.resize(kStreamsLookedAt);
    for (const FirstOfStream& stream : streams) {
      if (IsStopped(question)) return std::nullopt;
      for (uint64_t position = 0; position < stream.firsts.size(); ++position) {
        if (std::ranges::find(begun, stream.firsts[position] % samples) == begun.end()) continue;
        const uint32_t seed = OutputOf(stream.stream_seed, position);
        Guess guess = {
            .sampler = MakeTorchSampler(FreshSeedRecipe("torch RandomSampler", seed, 0)),
            .epoch = 0,
            .drawn = DrawnSeed{.stream_seed = stream.stream_seed, .position = position, .stride = kLoopStride}};
        const double bits = test.Try(*guess.sampler, 0);
        if (!Believed(bits, tried)) continue;
        HostOrder made = IdentifyForHost(test, Settled(guess), {.bits = bits}, true);
        IdentifiedOrder& identified = made.identified;
        identified.bits -= std::log2(tried);
        if (made.open || identified.bits < CandidateScorer::kBelievedBits) return std::nullopt;
        identified.how = "known after " + std::to_string(test.reads().count) + " reads";
        return std::move(identified);
      }
    }
  }
  return std::nullopt;
}

}  // namespace augur
