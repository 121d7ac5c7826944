// SPDX-License-Identifier: Apache-2.0
// The samplers of libraries. Orders marked as recorded were given by the real library; those that can be installed
// beside each other are compared with it in tests/frameworks/test_shuffles_*.py, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "samplers/dali_sampler.h"
#include "samplers/keras_sampler.h"
#include "samplers/std_shuffle.h"
#include "samplers/tf_seed.h"
#include "samplers/webdataset_sampler.h"
#include "unit/samplers_other/taken.h"

namespace augur {
namespace {

bool IsPermutation(IndexOrder indices, uint64_t samples) {
  std::ranges::sort(indices);
  IndexOrder all(samples);
  std::iota(all.begin(), all.end(), 0U);
  return indices == all;
}

template <typename Engine>
void ExpectAsTheLibraryShuffles() {
  for (const size_t size : {1U, 2U, 3U, 4U, 99U, 65535U, 65536U, 65537U, 200001U}) {
    for (const unsigned seed : {1U, 524287U}) {
      IndexOrder theirs(size);
      std::iota(theirs.begin(), theirs.end(), 0U);
      IndexOrder ours = theirs;
      Engine engine(seed);
      std::shuffle(theirs.begin(), theirs.end(), engine);
      Engine same(seed);
      ShuffleLikeStd(same, StdShuffle::kLibstdcxx11, &ours);
      EXPECT_EQ(ours, theirs) << size;
      EXPECT_EQ(engine(), same()) << size;
    }
  }
}

#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 11
TEST(StdShuffle, IsThatOfThisCompilersLibrary) {
  ExpectAsTheLibraryShuffles<std::mt19937>();
  ExpectAsTheLibraryShuffles<std::mt19937_64>();
}
#endif

TEST(StdShuffle, TheOldWayIsAnotherPermutationOfLongLists) {
  for (const size_t size : {10U, 70000U}) {
    IndexOrder older(size);
    std::iota(older.begin(), older.end(), 0U);
    IndexOrder newer = older;
    std::mt19937 engine(1);
    ShuffleLikeStd(engine, StdShuffle::kLibstdcxx7, &older);
    engine.seed(1);
    ShuffleLikeStd(engine, StdShuffle::kLibstdcxx11, &newer);
    // Both take the top bits of an output, so short lists come out the same.
    EXPECT_EQ(older != newer, size == 70000);
    EXPECT_TRUE(IsPermutation(older, size));
  }
}

TEST(DaliFileSampler, ShardsTakeTurns) {
  const DaliFileSampler whole({});
  const IndexOrder list = Taken(whole, 10);
  EXPECT_TRUE(IsPermutation(list, 10));
  // Shards of 10 files: 0-2, 3-5, 6-9.
  EXPECT_EQ(Taken(DaliFileSampler({.shards = 3}), 10),
            (IndexOrder{list[0], list[3], list[6], list[1], list[4], list[7], list[2], list[5], list[8], list[9]}));
  EXPECT_EQ(Taken(DaliFileSampler({.shards = 3}), 10, 0, 4).size(), 4U);
}

TEST(DaliFileSampler, EpochsAfterEpoch) {
  using Epochs = DaliFileSampler::Epochs;
  for (const auto epochs : {Epochs::kAfterEpoch, Epochs::kAfterEpoch1}) {
    const DaliFileSampler cumulative({.epochs = epochs});
    const DaliFileSampler fresh({.epochs = epochs, .checkpointing = true});
    EXPECT_EQ(Taken(cumulative, 500, 0), Taken(fresh, 500, 0));
    EXPECT_NE(Taken(cumulative, 500, 1), Taken(fresh, 500, 1));
    EXPECT_NE(Taken(fresh, 500, 0), Taken(fresh, 500, 1));
    EXPECT_TRUE(IsPermutation(Taken(cumulative, 500, 3), 500));
  }
  EXPECT_NE(Taken(DaliFileSampler({.epochs = Epochs::kAfterEpoch}), 500),
            Taken(DaliFileSampler({.epochs = Epochs::kAfterEpoch1}), 500));
}

// DALI 1.53 and 1.23, readers.file(shuffle_after_epoch=True) of 10 files, one shard, then shard 1 of 3: recorded.
TEST(DaliFileSampler, Dali1Recorded) {
  using Epochs = DaliFileSampler::Epochs;
  for (const auto way : {StdShuffle::kLibstdcxx11, StdShuffle::kLibstdcxx7}) {
    const DaliFileSampler whole({.epochs = Epochs::kAfterEpoch1, .way = way});
    EXPECT_EQ(Taken(whole, 10, 0), (IndexOrder{1, 2, 7, 0, 6, 4, 5, 8, 9, 3}));
    EXPECT_EQ(Taken(whole, 10, 1), (IndexOrder{7, 6, 2, 0, 3, 4, 5, 8, 9, 1}));
    EXPECT_EQ(Taken(whole, 10, 2), (IndexOrder{4, 2, 7, 9, 8, 1, 3, 0, 6, 5}));
    // Files 1, 4 and 7 of the order of three shards.
    const IndexOrder shards = Taken(DaliFileSampler({.epochs = Epochs::kAfterEpoch1, .shards = 3, .way = way}), 10, 0);
    EXPECT_EQ((IndexOrder{shards[1], shards[4], shards[7]}), (IndexOrder{0, 6, 4}));
  }
  // 1.53 with enable_checkpointing, which 1.23 does not have.
  const DaliFileSampler checkpointing({.epochs = Epochs::kAfterEpoch1, .checkpointing = true});
  EXPECT_EQ(Taken(checkpointing, 10, 0), (IndexOrder{1, 2, 7, 0, 6, 4, 5, 8, 9, 3}));
  EXPECT_EQ(Taken(checkpointing, 10, 1), (IndexOrder{2, 4, 1, 3, 9, 5, 6, 7, 8, 0}));
  EXPECT_EQ(Taken(checkpointing, 10, 2), (IndexOrder{5, 2, 0, 8, 7, 9, 4, 3, 1, 6}));
}

// The first 12 of 66,536 files, for which the two ways of std::shuffle differ: recorded, DALI 1.53 (built by GCC 14)
// and 1.23 (by GCC 10.2). random_shuffle=True, then both first epochs of shuffle_after_epoch=True.
TEST(DaliFileSampler, LongListsRecordedOfBothCompilers) {
  using Epochs = DaliFileSampler::Epochs;
  const auto first = [](Epochs epochs, StdShuffle way, uint64_t epoch) {
    return Taken(DaliFileSampler({.epochs = epochs, .way = way}), 66536, epoch, 12);
  };
  EXPECT_EQ(first(Epochs::kOnce, StdShuffle::kLibstdcxx11, 0),
            (IndexOrder{14022, 65893, 4767, 37944, 42924, 24812, 34586, 65034, 43369, 11806, 36280, 25885}));
  EXPECT_EQ(first(Epochs::kAfterEpoch1, StdShuffle::kLibstdcxx11, 0),
            (IndexOrder{15619, 51867, 3774, 5047, 24494, 8032, 49021, 40194, 51167, 4861, 30814, 27554}));
  EXPECT_EQ(first(Epochs::kAfterEpoch1, StdShuffle::kLibstdcxx11, 1),
            (IndexOrder{7588, 60689, 17083, 1875, 13224, 54881, 45119, 61287, 19767, 16813, 19305, 39122}));
  EXPECT_EQ(first(Epochs::kOnce, StdShuffle::kLibstdcxx7, 0),
            (IndexOrder{14022, 65893, 4767, 37944, 42923, 24812, 34586, 65034, 43368, 11806, 36280, 25885}));
  EXPECT_EQ(first(Epochs::kAfterEpoch1, StdShuffle::kLibstdcxx7, 0),
            (IndexOrder{15619, 51867, 3774, 5047, 24494, 8032, 49021, 40194, 51167, 4861, 30814, 27554}));
  EXPECT_EQ(first(Epochs::kAfterEpoch1, StdShuffle::kLibstdcxx7, 1),
            (IndexOrder{7588, 60689, 17083, 1875, 54819, 15099, 45119, 14875, 19767, 16813, 19305, 39122}));
}

TEST(KerasImageSampler, PartsAreCutOffTheShuffledList) {
  using Part = KerasImageSampler::Part;
  const auto taken = [](Part part, bool second) {
    return Taken(KerasImageSampler({.seed = 3, .second_shuffle = second, .validation_split = 0.25, .part = part}), 103);
  };
  const IndexOrder list = Taken(KerasImageSampler({.seed = 3, .second_shuffle = false}), 103);
  EXPECT_EQ(taken(Part::kTraining, false), IndexOrder(list.begin(), list.begin() + 78));
  EXPECT_EQ(taken(Part::kValidation, false), IndexOrder(list.begin() + 78, list.end()));
  IndexOrder training = taken(Part::kTraining, true);
  EXPECT_NE(training, taken(Part::kTraining, false));
  std::ranges::sort(training);
  IndexOrder unshuffled = taken(Part::kTraining, false);
  std::ranges::sort(unshuffled);
  EXPECT_EQ(training, unshuffled);
}

// numpy.random.seed(0); numpy.random.randint(1e6): recorded.
TEST(KerasImageSampler, DrawsItsOwnSeed) { EXPECT_EQ(KerasSeedAfter(0), 985772U); }

// webdataset 1.0.2, _shuffle of 12 with bufsize=5, initial=3, seed=7: recorded.
TEST(WebdatasetSampler, Recorded) {
  const WebdatasetSampler sampler({.seed = 7, .buffer_shards = 5, .initial_shards = 3});
  const IndexOrder expected = {2, 1, 4, 0, 7, 9, 8, 3, 10, 11, 6, 5};
  EXPECT_EQ(Taken(sampler, 12), expected);
  for (size_t count = 0; count < 12; ++count) {
    EXPECT_EQ(Taken(sampler, 12, 0, count),
              IndexOrder(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(count)));
  }
}

TEST(WebdatasetSampler, WorkersTakeEveryShardOnce) {
  for (const uint64_t workers : {1U, 2U, 5U, 40U}) {
    const WebdatasetSampler sampler({.seed = 1, .seed_plus_epoch = true, .workers = workers});
    const IndexOrder taken = Taken(sampler, 33, 2);
    EXPECT_TRUE(IsPermutation(taken, 33)) << workers;
    for (size_t i = 0; i < std::min<size_t>(workers, 33); ++i) EXPECT_EQ(taken[i] % workers, i);
  }
}

TEST(TfSeed, NeverAsksForSeedsOfTheOpsOwn) {
  EXPECT_EQ(TfSeedsOfBoth(0, 0), (TfSeeds{0, 0x7fffffff}));
  EXPECT_EQ(TfSeedsOfBoth(0, 0x7fffffff), (TfSeeds{0, 0x7fffffff}));
  EXPECT_EQ(TfSeedsOfOp(-1), (TfSeeds{87654321, 0x7ffffffe}));
}

}  // namespace
}  // namespace augur
