// SPDX-License-Identifier: Apache-2.0
#include "predict/next_epochs.h"

#include <algorithm>

#include "base/check.h"
#include "samplers/common_seeds.h"
#include "samplers/stepped_sampler.h"
#include "samplers/torch_recipes.h"

namespace augur {
namespace {

// How many outputs further the next epoch's seed may be. A loop of one training loader, with persistent workers or
// not, draws 2 or 4 outputs, and 2 for each further loader; loops that draw for themselves (mixup: one permutation of a
// batch a step) come again after hundreds. To try them all takes 40 ms (300 draws and a state each, 5 us), and a bit
// more than one read to tell them apart (13 bits).
constexpr uint64_t kStrideMax = 8192;

// The epoch `step` epochs of the sampler behind this one, and after it as many again.
Guess Stepped(const Guess& guess, uint64_t step) {
  const uint64_t next = guess.epoch + 1;
  return {.sampler = std::make_shared<const SteppedSampler>(guess.sampler, step, next, guess.epoch + step),
          .epoch = next};
}

Guess Fresh(uint32_t seed, uint64_t step) {
  return {.sampler = MakeTorchSampler(FreshSeedRecipe("torch generator", seed, step)), .epoch = 1};
}

Guess RunGuess(uint32_t seed, uint32_t offset, bool trailing, uint64_t extra) {
  TorchRecipe recipe{.name = "torch generator of the whole run",
                     .generator = RunStream{.seed = seed, .offset = offset, .trailing = trailing, .extra = extra},
                     .shape = {}};
  return {.sampler = MakeTorchSampler(std::move(recipe)), .epoch = 1};
}

// An epoch of the loops that draw its seed any number of outputs behind `place`, where that of `epochs` before it was
// drawn.
void AddStreamGuesses(const StreamPosition& place, uint32_t epochs, std::vector<Guess>* guesses) {
  Mt19937 engine(static_cast<uint32_t>(place.stream_seed));
  engine.Discard(place.position + 1);
  for (uint64_t outputs = 1; outputs <= kStrideMax; ++outputs) {
    const uint32_t strides = outputs % epochs == 0 ? epochs : 1;
    guesses->push_back(
        {.sampler = MakeTorchSampler(FreshSeedRecipe("torch RandomSampler", engine.Next(), 0)),
         .epoch = strides,
         .drawn =
             DrawnSeed{.stream_seed = place.stream_seed, .position = place.position, .stride = outputs / strides}});
  }
}

// By all ranks together.
std::vector<Guess> WholeGuessesAfter(const IdentifiedOrder& identified, const std::vector<StreamPosition>& places,
                                     uint32_t epochs) {
  std::vector<Guess> guesses;
  if (identified.guess.sampler != nullptr && !identified.seed) {
    const auto add = [&](const Guess& guess) {
      guesses.push_back({.sampler = guess.sampler, .epoch = guess.epoch + 1});
    };
    add(identified.guess);
    for (const Guess& other : identified.others) add(other);
    const Guess last = Unstepped(identified.guess);
    if (last.sampler != identified.guess.sampler) add(last);
    // set_epoch was not called; the run began anew.
    guesses.push_back(Stepped(last, 0));
    guesses.push_back({.sampler = last.sampler, .epoch = 0});
    const auto* torch = dynamic_cast<const TorchSampler*>(last.sampler.get());
    const auto* drawn = torch != nullptr ? std::get_if<DrawnSeed>(&torch->recipe().generator) : nullptr;
    if (drawn != nullptr) {
      // The loop draws more, or less, of the stream than was thought.
      AddStreamGuesses({.stream_seed = drawn->stream_seed, .position = drawn->position + last.epoch * drawn->stride},
                       epochs, &guesses);
    }
    // It counts in twos, or takes two permutations of its generator.
    guesses.push_back(Stepped(last, 2));
    return guesses;
  }
  if (!identified.seed) return guesses;
  for (const StreamPosition& place : places) AddStreamGuesses(place, epochs, &guesses);
  guesses.push_back(Fresh(*identified.seed, 1));
  for (const bool trailing : {true, false}) {
    for (const uint64_t extra : {0, 2, 4}) {
      guesses.push_back(RunGuess(*identified.seed, identified.offset, trailing, extra));
    }
  }
  guesses.push_back(Fresh(*identified.seed, 0));
  return guesses;
}

}  // namespace

std::vector<uint32_t> StreamSeeds(const std::vector<uint32_t>& hinted) {
  std::vector<uint32_t> seeds;
  const auto add = [&](uint32_t seed) {
    if (std::ranges::find(seeds, seed) == seeds.end()) seeds.push_back(seed);
  };
  std::ranges::for_each(hinted, add);
  std::ranges::for_each(kCommonSeeds, add);
  return seeds;
}

std::vector<Guess> GuessesAfter(const IdentifiedOrder& identified, const std::vector<StreamPosition>& places,
                                uint32_t epochs) {
  AUGUR_CHECK(epochs > 0);
  std::vector<Guess> guesses = WholeGuessesAfter(identified, places, epochs);
  // The ranks of a host stay what they are.
  for (Guess& guess : guesses) {
    guess.share = identified.guess.share;
    guess.share_given = identified.guess.share_given;
  }
  return guesses;
}

Guess Unstepped(const Guess& guess) {
  const auto* stepped = dynamic_cast<const SteppedSampler*>(guess.sampler.get());
  if (stepped == nullptr) return guess;
  Guess inner = guess;
  inner.sampler = stepped->sampler();
  inner.epoch = stepped->Inner(guess.epoch);
  return inner;
}

Guess Settled(const Guess& guess) {
  if (!guess.drawn) return guess;
  TorchRecipe recipe{.name = "torch RandomSampler", .generator = *guess.drawn, .shape = {}};
  Guess settled = guess;
  settled.sampler = MakeTorchSampler(std::move(recipe));
  settled.drawn.reset();
  return settled;
}

std::optional<Guess> PredictedAfter(const IdentifiedOrder& identified) {
  if (!identified.continues || identified.guess.sampler == nullptr) return std::nullopt;
  Guess next = identified.guess;
  ++next.epoch;
  return next;
}

std::optional<IdentifiedOrder> OrderAfter(const IdentifiedOrder& identified) {
  if (!identified.recorded.empty()) return ContinueRecorded(identified);
  const std::optional<Guess> guess = PredictedAfter(identified);
  return guess ? std::optional(Continue(identified, *guess)) : std::nullopt;
}

}  // namespace augur
