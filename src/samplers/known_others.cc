// SPDX-License-Identifier: Apache-2.0
// What libraries other than torch do with the seeds that many scripts have.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "samplers/common_seeds.h"
#include "samplers/known_samplers.h"
#include "samplers/list_shuffle.h"
#include "samplers/other_names.h"
#include "samplers/python_sampler.h"
#include "samplers/tf_shuffle.h"

namespace augur {
namespace {

using Likelihood = KnownSampler::Likelihood;
using Known = std::vector<KnownSampler>;

constexpr uint64_t kFirstEpochs = 10;
constexpr uint64_t kDistantEpochs = 300;

// A prefix of a shuffle from the end costs the whole list: 12 ms for 1.3 million samples. So few of them are tried
// here, 1.2 s in all; EndShuffleSearch tries 50,000 seeds in that time, when a thousand reads are known.
constexpr size_t kCommonestSeeds = 6;
// Buffers of tf.data that do not hold all; and webdataset's shards.
constexpr uint64_t kTfBuffers[] = {0, 1000, 10000, 1024, 2048, 4096, 8192, 100, 500, 5000};
// Random ops without a seed between tf.random.set_seed and the shuffle: the layers of a model are later.
constexpr uint64_t kTfCalls = 4;

template <typename Made>
void Add(Known* known, Made made, Likelihood likelihood, uint64_t epochs = kFirstEpochs) {
  known->push_back(
      {.sampler = std::make_shared<const Made>(std::move(made)), .epochs = epochs, .likelihood = likelihood});
}

void AddLists(Known* known) {
  Add(known, ListShuffleSampler({.seed = 1, .epochs = ListEpochs::kSeedPlusEpoch, .name = "fairseq batches"}),
      Likelihood::kCustom, 3);
  for (const uint64_t seed : std::span(kCommonSeeds).first(kCommonestSeeds)) {
    for (const auto shuffler :
         {ListShuffler::kNumpyRandomState, ListShuffler::kPython, ListShuffler::kNumpyGenerator}) {
      // The first epoch is the same for all ways but one; which way it is, the second epoch shows.
      for (const auto epochs : {ListEpochs::kOnce, ListEpochs::kContinued, ListEpochs::kInPlace}) {
        Add(known, ListShuffleSampler({.shuffler = shuffler, .seed = seed, .epochs = epochs}), Likelihood::kCustom, 1);
      }
      Add(known, ListShuffleSampler({.shuffler = shuffler, .seed = seed, .epochs = ListEpochs::kSeedPlusEpoch}),
          Likelihood::kCustom, 1);
    }
  }
}

// Settled from the front, so that all common seeds cost 5 us each. Of later epochs each costs the draws of those
// before: 14 ms for 1.3 million samples, 0.25 s for those of all that are tried.
void AddPythonSamples(Known* known) {
  constexpr uint64_t kLaterEpochs = 3;  // behind a look at a batch, or two
  for (const uint64_t seed : kCommonSeeds) {
    Add(known, PythonSampleSampler({.seed = seed, .epochs = SampleEpochs::kFastai}), Likelihood::kCustom, 1);
    for (const auto epochs : {SampleEpochs::kOnce, SampleEpochs::kContinued}) {
      Add(known, PythonSampleSampler({.seed = seed, .epochs = epochs}), Likelihood::kCustom, 1);
    }
  }
  for (const uint64_t seed : std::span(kCommonSeeds).first(kCommonestSeeds)) {
    Add(known, PythonSampleSampler({.seed = seed, .epochs = SampleEpochs::kFastai}), Likelihood::kCustom, kLaterEpochs);
  }
}

void AddTf(Known* known) {
  for (const uint64_t seed : kCommonSeeds) {
    const auto number = static_cast<int64_t>(seed);
    std::vector<TfSeeds> pairs = {TfSeedsOfOp(number), TfSeedsOfBoth(number, number)};
    for (uint64_t call = 0; call < kTfCalls; ++call) pairs.push_back(TfSeedsOfGlobal(number, call));
    for (const TfSeeds pair : pairs) {
      for (const uint64_t buffer : kTfBuffers) {
        Add(known, TfShuffleSampler(pair, buffer, TfEpochs::kReshuffled), Likelihood::kVariant);
        Add(known, TfShuffleSampler(pair, buffer, TfEpochs::kSame), Likelihood::kVariant, 1);
      }
      Add(known, TfShuffleSampler(pair, 0, TfEpochs::kReshuffled), Likelihood::kDistant, kDistantEpochs);
    }
  }
}

}  // namespace

void AddKnownOtherSamplers(std::vector<KnownSampler>* known) {
  AddTf(known);
  AddPythonSamples(known);
  AddLists(known);
}

}  // namespace augur
