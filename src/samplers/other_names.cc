// SPDX-License-Identifier: Apache-2.0
#include "samplers/other_names.h"

#include <string>
#include <utility>

#include "samplers/list_shuffle.h"
#include "samplers/python_sampler.h"
#include "samplers/tf_shuffle.h"

namespace augur {
namespace {

using Hint = const SamplerHint&;

SamplerResult List(Hint hint, ListShuffler shuffler, ListEpochs epochs) {
  if (shuffler == ListShuffler::kNumpyRandomState) AUGUR_TRY(hint.NeededSeed32().status());
  AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
  return SharedSampler(
      ListShuffleSampler({.shuffler = shuffler, .seed = seed, .epochs = hint.same_epoch ? ListEpochs::kOnce : epochs}));
}

SamplerResult PythonSample(Hint hint, SampleEpochs epochs) {
  AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
  return SharedSampler(PythonSampleSampler({.seed = seed,
                                            .epochs = hint.same_epoch ? SampleEpochs::kOnce : epochs,
                                            .loaders_before = hint.position.value_or(0)}));
}

SamplerResult Fastai(Hint hint) {
  if (hint.same_epoch) {
    return Status(Code::kInvalid, "--sampler fastai: --same-epoch: its epochs are never the same: leave that out");
  }
  return PythonSample(hint, SampleEpochs::kFastai);
}

SamplerResult Fairseq(Hint hint) {
  // fairseq counts its epochs from 1.
  return SharedSampler(ListShuffleSampler({.seed = hint.seed.value_or(1) + 1,
                                           .epochs = ListEpochs::kSeedPlusEpoch,
                                           .batch_samples = static_cast<uint32_t>(hint.batch.value_or(1)),
                                           .name = "fairseq batches"}));
}

SamplerResult TfShuffle(Hint hint, TfSeeds seeds) {
  return SharedSampler(
      TfShuffleSampler(seeds, hint.buffer.value_or(0), hint.same_epoch ? TfEpochs::kSame : TfEpochs::kReshuffled));
}

using enum ListShuffler;
using enum ListEpochs;
constexpr NamedSampler kOtherNames[] = {
    {.name = "numpy",
     .what = "numpy.random.seed(seed), then numpy.random.permutation in every epoch; --same-epoch: only once",
     .make = [](Hint hint) { return List(hint, kNumpyRandomState, kContinued); }},
    {.name = "numpy-in-place",
     .what = "numpy.random.seed(seed), then numpy.random.shuffle of the same list in every epoch",
     .make = [](Hint hint) { return List(hint, kNumpyRandomState, kInPlace); }},
    {.name = "numpy-generator",
     .what = "g = numpy.random.default_rng(seed), then g.permutation in every epoch; --same-epoch: only once",
     .make = [](Hint hint) { return List(hint, kNumpyGenerator, kContinued); }},
    {.name = "python",
     .what = "random.seed(seed), then random.shuffle of a list in its first order; --same-epoch: only once",
     .make = [](Hint hint) { return List(hint, kPython, kContinued); }},
    {.name = "python-in-place",
     .what = "random.seed(seed), then random.shuffle of the same list in every epoch",
     .make = [](Hint hint) { return List(hint, kPython, kInPlace); }},
    {.name = "python-sample",
     .what = "random.seed(seed), then random.sample of all samples in every epoch; --same-epoch: only once",
     .make = [](Hint hint) { return PythonSample(hint, SampleEpochs::kContinued); }},
    {.name = "fastai",
     .what = "random.seed(seed) or set_seed(seed), then fastai's DataLoaders; --position: loaders made before the one "
             "that is read; each look at a batch (show_batch, lr_find) is an epoch: see --epoch-from",
     .make = Fastai},
    {.name = "ffcv",
     .what = "FFCV's OrderOption.RANDOM, seed + epoch",
     .make = [](Hint hint) { return List(hint, kNumpyGenerator, kSeedPlusEpoch); }},
    {.name = "datasets",
     .what = "Hugging Face datasets, Dataset.shuffle(seed)",
     .make = [](Hint hint) { return List(hint, kNumpyGenerator, kOnce); }},
    {.name = "fairseq", .what = "fairseq's batches, seed + epoch, seed 1 unless given; --batch-size", .make = Fairseq},
    {.name = "tf",
     .what = "tf.data shuffle(buffer, seed); --buffer, all samples unless given; --same-epoch for no reshuffle",
     .make = [](Hint hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       return TfShuffle(hint, TfSeedsOfOp(static_cast<int64_t>(seed)));
     }},
    {.name = "tf-global",
     .what = "tf.data shuffle(buffer) after tf.random.set_seed(seed); --position: random ops without a seed before it",
     .make = [](Hint hint) -> SamplerResult {
       AUGUR_TRY_ASSIGN(seed, hint.NeededSeed());
       return TfShuffle(hint, TfSeedsOfGlobal(static_cast<int64_t>(seed), hint.position.value_or(0)));
     }},
};

}  // namespace

constinit const SamplerFamily kOtherFamily = {.named = kOtherNames, .add_known = AddKnownOtherSamplers};

}  // namespace augur
