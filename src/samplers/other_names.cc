// SPDX-License-Identifier: Apache-2.0
#include "samplers/other_names.h"

#include <string>
#include <utility>

#include "samplers/dali_sampler.h"
#include "samplers/keras_sampler.h"
#include "samplers/list_shuffle.h"
#include "samplers/python_sampler.h"
#include "samplers/tf_shuffle.h"
#include "samplers/webdataset_sampler.h"

namespace augur {
namespace {

using Hint = const SamplerHint&;
using SamplerResult = Result<std::shared_ptr<const Sampler>>;

template <typename Made>
SamplerResult Shared(Made made) {
  return std::shared_ptr<const Sampler>(std::make_shared<const Made>(std::move(made)));
}

Result<uint64_t> NeededSeed(Hint hint) {
  if (hint.seed) return *hint.seed;
  return Status(Code::kInvalid, "--sampler " + hint.sampler + ": it has no seed of its own: give --seed");
}

// NumPy and Keras take no seed of 2^32 or more.
Result<uint32_t> NeededSeed32(Hint hint) {
  AUGUR_TRY_ASSIGN(seed, NeededSeed(hint));
  if (seed <= UINT32_MAX) return static_cast<uint32_t>(seed);
  return Status(Code::kInvalid, "--sampler " + hint.sampler + ": --seed " + std::to_string(seed) +
                                    " is 2^32 or more, which the library refuses");
}

SamplerResult List(Hint hint, ListShuffler shuffler, ListEpochs epochs) {
  if (shuffler == ListShuffler::kNumpyRandomState) AUGUR_TRY(NeededSeed32(hint).status());
  AUGUR_TRY_ASSIGN(seed, NeededSeed(hint));
  return Shared(
      ListShuffleSampler({.shuffler = shuffler, .seed = seed, .epochs = hint.same_epoch ? ListEpochs::kOnce : epochs}));
}

SamplerResult PythonSample(Hint hint, SampleEpochs epochs) {
  AUGUR_TRY_ASSIGN(seed, NeededSeed(hint));
  return Shared(PythonSampleSampler({.seed = seed,
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
  return Shared(ListShuffleSampler({.seed = hint.seed.value_or(1) + 1,
                                    .epochs = ListEpochs::kSeedPlusEpoch,
                                    .batch_samples = static_cast<uint32_t>(hint.batch.value_or(1)),
                                    .name = "fairseq batches"}));
}

SamplerResult TfShuffle(Hint hint, TfSeeds seeds) {
  return Shared(
      TfShuffleSampler(seeds, hint.buffer.value_or(0), hint.same_epoch ? TfEpochs::kSame : TfEpochs::kReshuffled));
}

SamplerResult Keras(Hint hint, bool second_shuffle) {
  AUGUR_TRY_ASSIGN(seed, NeededSeed32(hint));
  return Shared(KerasImageSampler({.seed = seed,
                                   .batch_samples = static_cast<uint32_t>(hint.batch.value_or(32)),
                                   .second_shuffle = second_shuffle}));
}

SamplerResult Dali(Hint hint, DaliFileSampler::Epochs epochs) {
  return Shared(DaliFileSampler(
      {.epochs = epochs,
       .seed = static_cast<int64_t>(hint.seed.value_or(static_cast<uint64_t>(DaliFileSampler::kDefaultSeed))),
       .shards = hint.world_size}));
}

SamplerResult Webdataset(Hint hint, bool seed_plus_epoch) {
  AUGUR_TRY_ASSIGN(seed, seed_plus_epoch ? Result<uint64_t>(hint.seed.value_or(0)) : NeededSeed(hint));
  return Shared(WebdatasetSampler({.seed = seed,
                                   .buffer_shards = hint.buffer.value_or(100),
                                   .seed_plus_epoch = seed_plus_epoch,
                                   .workers = hint.world_size}));
}

std::vector<NamedSampler> ListNames() {
  using enum ListShuffler;
  using enum ListEpochs;
  return {
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
       .what =
           "random.seed(seed) or set_seed(seed), then fastai's DataLoaders; --position: loaders made before the one "
           "that is read; each look at a batch (show_batch, lr_find) is an epoch: see --epoch-from",
       .make = Fastai},
      {.name = "ffcv",
       .what = "FFCV's OrderOption.RANDOM, seed + epoch",
       .make = [](Hint hint) { return List(hint, kNumpyGenerator, kSeedPlusEpoch); }},
      {.name = "datasets",
       .what = "Hugging Face datasets, Dataset.shuffle(seed)",
       .make = [](Hint hint) { return List(hint, kNumpyGenerator, kOnce); }},
      {.name = "fairseq",
       .what = "fairseq's batches, seed + epoch, seed 1 unless given; --batch-size",
       .make = Fairseq},
  };
}

}  // namespace

std::vector<NamedSampler> OtherNames() {
  std::vector<NamedSampler> names = ListNames();
  const std::vector<NamedSampler> others = {
      {.name = "tf",
       .what = "tf.data shuffle(buffer, seed); --buffer, all samples unless given; --same-epoch for no reshuffle",
       .make = [](Hint hint) -> SamplerResult {
         AUGUR_TRY_ASSIGN(seed, NeededSeed(hint));
         return TfShuffle(hint, TfSeedsOfOp(static_cast<int64_t>(seed)));
       }},
      {.name = "tf-global",
       .what =
           "tf.data shuffle(buffer) after tf.random.set_seed(seed); --position: random ops without a seed before it",
       .make = [](Hint hint) -> SamplerResult {
         AUGUR_TRY_ASSIGN(seed, NeededSeed(hint));
         return TfShuffle(hint, TfSeedsOfGlobal(static_cast<int64_t>(seed), hint.position.value_or(0)));
       }},
      {.name = "keras",
       .what = "image_dataset_from_directory(seed) of Keras 3.3 and later; --batch-size, 32 unless given",
       .make = [](Hint hint) { return Keras(hint, true); }},
      {.name = "keras-2", .what = "the same of Keras before 3.3", .make = [](Hint hint) { return Keras(hint, false); }},
      {.name = "dali",
       .what = "DALI readers.file(random_shuffle=True); --world-size: shards",
       .make = [](Hint hint) { return Dali(hint, DaliFileSampler::Epochs::kOnce); }},
      {.name = "dali-after-epoch",
       .what = "DALI 2 readers.file(shuffle_after_epoch=True); seed is shuffle_after_epoch_seed",
       .make = [](Hint hint) { return Dali(hint, DaliFileSampler::Epochs::kAfterEpoch); }},
      {.name = "dali-1-after-epoch",
       .what = "the same of DALI 1",
       .make = [](Hint hint) { return Dali(hint, DaliFileSampler::Epochs::kAfterEpoch1); }},
      {.name = "webdataset",
       .what = "shards of WebDataset(shardshuffle, seed); --buffer: shardshuffle; --world-size: workers of all ranks",
       .make = [](Hint hint) { return Webdataset(hint, false); }},
      {.name = "webdataset-detshuffle",
       .what = "the same with detshuffle=True, seed + epoch, seed 0 unless given",
       .make = [](Hint hint) { return Webdataset(hint, true); }},
  };
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

}  // namespace augur
