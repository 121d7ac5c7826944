// SPDX-License-Identifier: Apache-2.0
#include "shuffle/tf_unseeded_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace augur {
namespace {

// Recorded from TensorFlow 2.21 whose std::random_device was made to give 1000:
// tf.data.Dataset.range(1000).shuffle(1000) in a process that had drawn 49 numbers, then in one with five layers of a
// Keras model before it, which had drawn 364.
const IndexOrder kPlain = {367, 462, 535, 203, 852, 281, 649, 66};
const IndexOrder kPlainSecondEpoch = {415, 58, 788, 124, 876, 581, 167, 263};
const IndexOrder kBehindModel = {187, 8, 378, 702, 396, 959, 132, 0};
// The same with reshuffle_each_iteration=False.
const IndexOrder kSame = {418, 643, 6, 701, 59, 501, 89, 184};

IndexOrder Taken(TfSeeds seeds, TfEpochs epochs, uint64_t epoch) {
  IndexOrder indices;
  TfShuffleSampler(seeds, 1000, epochs).Take(1000, epoch, 8, &indices);
  return indices;
}

TEST(TfUnseededSearch, SeedsAreThoseOfTensorFlow) {
  EXPECT_EQ(Taken(TfUnseededSearch::SeedsOf(1000, 49), TfEpochs::kReshuffled, 0), kPlain);
  EXPECT_EQ(Taken(TfUnseededSearch::SeedsOf(1000, 49), TfEpochs::kReshuffled, 1), kPlainSecondEpoch);
  EXPECT_EQ(Taken(TfUnseededSearch::SeedsOf(1000, 364), TfEpochs::kReshuffled, 0), kBehindModel);
  EXPECT_EQ(Taken(TfUnseededSearch::SeedsOf(1000, 49), TfEpochs::kSame, 0), kSame);
}

std::optional<uint32_t> Found(const TfUnseededSearch& search) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    if (const auto draws = search.Fits(seed)) return seed == 1000 ? draws : std::nullopt;
  }
  return std::nullopt;
}

TEST(TfUnseededSearch, FindsTheProcess) {
  EXPECT_EQ(Found(TfUnseededSearch({.samples = 1000, .reads = kPlain}, 40, 60)), 49U);
  EXPECT_EQ(Found(TfUnseededSearch({.samples = 1000, .epoch = 1, .reads = kPlainSecondEpoch}, 49, 50)), 49U);
  EXPECT_EQ(Found(TfUnseededSearch({.samples = 1000, .reads = kBehindModel}, 360, 370)), 364U);
  EXPECT_EQ(Found(TfUnseededSearch({.samples = 1000, .epochs = TfEpochs::kSame, .reads = kSame}, 45, 50)), 49U);
}

TEST(TfUnseededSearch, OtherOrdersAndOtherDrawsFitNothing) {
  EXPECT_EQ(Found(TfUnseededSearch({.samples = 1000, .reads = kPlain}, 50, 60)), std::nullopt);
  EXPECT_EQ(Found(TfUnseededSearch({.samples = 1000, .reads = {0, 1, 2, 3, 4, 5, 6, 7}}, 40, 60)), std::nullopt);
}

TEST(TfUnseededSearch, ReadsMayBeUnseenAndOutOfOrder) {
  IndexOrder order;
  TfShuffleSampler(TfUnseededSearch::SeedsOf(1000, 49), 500, TfEpochs::kReshuffled).Take(50000, 0, 64, &order);
  IndexOrder seen;
  for (size_t i = 0; i < order.size(); i += 3) seen.push_back(order[i]);
  std::ranges::reverse(seen);
  EXPECT_EQ(Found(TfUnseededSearch({.samples = 50000, .buffer_samples = 500, .reads = seen, .slack = 64}, 45, 50)),
            49U);
}

}  // namespace
}  // namespace augur
