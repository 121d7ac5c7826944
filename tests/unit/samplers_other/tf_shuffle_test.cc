// SPDX-License-Identifier: Apache-2.0
// tf.data's shuffle against the vectors of TensorFlow's own test, shuffle_dataset_op_test.cc of 2020.
#include "samplers/tf_shuffle.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "unit/samplers_other/taken.h"

namespace augur {
namespace {

TEST(TfShuffle, SameInEveryEpoch) {
  const TfShuffleSampler sampler({1, 2}, 3, TfEpochs::kSame);
  const IndexOrder expected = {2, 3, 0, 5, 6, 4, 7, 8, 9, 1};
  EXPECT_EQ(Taken(sampler, 10, 0), expected);
  EXPECT_EQ(Taken(sampler, 10, 1), expected);
}

TEST(TfShuffle, ReshuffledWithABufferForAll) {
  const TfShuffleSampler sampler({1, 2}, 10, TfEpochs::kReshuffled);
  EXPECT_EQ(Taken(sampler, 10, 0), (IndexOrder{2, 6, 1, 3, 9, 5, 0, 8, 7, 4}));
  EXPECT_EQ(Taken(sampler, 10, 1), (IndexOrder{1, 6, 0, 5, 2, 7, 4, 3, 9, 8}));
}

TEST(TfShuffle, ReshuffledWithASmallBuffer) {
  const TfShuffleSampler sampler({1, 2}, 2, TfEpochs::kReshuffled);
  EXPECT_EQ(Taken(sampler, 10, 0), (IndexOrder{0, 2, 1, 3, 5, 6, 4, 7, 8, 9}));
  EXPECT_EQ(Taken(sampler, 10, 1), (IndexOrder{1, 0, 2, 3, 4, 5, 6, 7, 9, 8}));
}

TEST(TfShuffle, OtherSeeds) {
  const TfShuffleSampler sampler({2, 2}, 10, TfEpochs::kReshuffled);
  EXPECT_EQ(Taken(sampler, 10, 0), (IndexOrder{3, 0, 8, 1, 5, 4, 7, 2, 6, 9}));
  EXPECT_EQ(Taken(sampler, 10, 1), (IndexOrder{4, 6, 9, 0, 1, 8, 2, 7, 3, 5}));
}

TEST(TfShuffle, ABufferOfOneShufflesNothing) {
  const TfShuffleSampler sampler({1, 2}, 1, TfEpochs::kReshuffled);
  EXPECT_EQ(Taken(sampler, 10, 1), (IndexOrder{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(TfShuffle, FusedWithRepeat) {
  const TfShuffleSampler sampler({1, 2}, 10, TfEpochs::kOneStream);
  EXPECT_EQ(Taken(sampler, 10, 0), (IndexOrder{9, 0, 8, 6, 1, 3, 7, 2, 4, 5}));
  EXPECT_EQ(Taken(sampler, 10, 1), (IndexOrder{4, 3, 0, 5, 8, 2, 6, 9, 7, 1}));
}

TEST(TfShuffle, FusedWithRepeatAndABufferOfSeveralEpochs) {
  const TfShuffleSampler sampler({1, 2}, 10, TfEpochs::kOneStream);
  IndexOrder all;
  for (uint64_t epoch = 0; epoch < 7; ++epoch) {
    for (const uint32_t index : Taken(sampler, 3, epoch)) all.push_back(index);
  }
  EXPECT_EQ(all, (IndexOrder{2, 0, 1, 2, 0, 1, 1, 2, 0, 1, 0, 2, 2, 0, 1, 1, 0, 2, 2, 1, 0}));
}

TEST(TfShuffle, APrefixIsTheBeginningOfTheWhole) {
  for (const uint64_t buffer : {0U, 7U, 1000U}) {
    const TfShuffleSampler sampler({3, 4}, buffer, TfEpochs::kReshuffled);
    IndexOrder whole = Taken(sampler, 100000, 2);
    const IndexOrder prefix = Taken(sampler, 100000, 2, 500);
    whole.resize(500);
    EXPECT_EQ(prefix, whole) << buffer;
  }
}

}  // namespace
}  // namespace augur
