// SPDX-License-Identifier: Apache-2.0
// Lists shuffled by NumPy and Python, against what NumPy 2.4.6 and CPython 3.11 gave. Many more sizes and seeds are
// compared with the libraries themselves in tests/frameworks/test_shuffles_other.py.
#include "samplers/list_shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "samplers/python_random.h"
#include "unit/samplers_other/taken.h"

namespace augur {
namespace {

IndexOrder Taken(const ListShuffleSampler::Recipe& recipe, uint64_t samples, uint64_t epoch = 0, size_t count = kAll) {
  return Taken(ListShuffleSampler(recipe), samples, epoch, count);
}

TEST(ListShuffle, NumpyRandomState) {
  EXPECT_EQ(Taken({.shuffler = ListShuffler::kNumpyRandomState, .seed = 42}, 12),
            (IndexOrder{10, 9, 0, 8, 5, 2, 1, 11, 4, 7, 3, 6}));
}

TEST(ListShuffle, NumpyGenerator) {
  EXPECT_EQ(Taken({.shuffler = ListShuffler::kNumpyGenerator, .seed = 42}, 12),
            (IndexOrder{0, 7, 6, 9, 11, 3, 5, 2, 4, 10, 1, 8}));
}

TEST(ListShuffle, Python) {
  EXPECT_EQ(Taken({.shuffler = ListShuffler::kPython, .seed = 42}, 12),
            (IndexOrder{7, 5, 2, 8, 9, 6, 11, 3, 4, 0, 1, 10}));
}

TEST(ListShuffle, Batches) {
  EXPECT_EQ(Taken({.seed = 1, .epochs = ListEpochs::kSeedPlusEpoch, .batch_samples = 3}, 10, 1),
            (IndexOrder{6, 7, 8, 9, 3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(Taken({.seed = 2, .batch_samples = 3}, 10, 0, 5), (IndexOrder{6, 7, 8, 9, 3}));
}

TEST(ListShuffle, EveryWayTakesEachSampleOnce) {
  for (const auto shuffler : {ListShuffler::kNumpyRandomState, ListShuffler::kNumpyGenerator, ListShuffler::kPython}) {
    for (const auto epochs :
         {ListEpochs::kOnce, ListEpochs::kSeedPlusEpoch, ListEpochs::kContinued, ListEpochs::kInPlace}) {
      for (const uint64_t samples : {1U, 2U, 3U, 1000U}) {
        const ListShuffleSampler::Recipe recipe{.shuffler = shuffler, .seed = 5, .epochs = epochs};
        IndexOrder second = Taken(recipe, samples, 1);
        EXPECT_EQ(Taken(recipe, samples, 1, 10),
                  IndexOrder(second.begin(), second.begin() + std::min<ptrdiff_t>(10, samples)));
        if (samples == 1000) {
          EXPECT_EQ(Taken(recipe, samples, 0) == second, epochs == ListEpochs::kOnce);
        }
        std::ranges::sort(second);
        for (uint32_t i = 0; i < samples; ++i) EXPECT_EQ(second[i], i);
      }
    }
  }
}

TEST(PythonRandom, SampleAndChoice) {
  EXPECT_EQ(PythonRandom(42).Sample(100, 8), (IndexOrder{81, 14, 3, 94, 35, 31, 28, 17}));
  PythonRandom random(42);
  for (const uint32_t expected : {81U, 14U, 3U}) EXPECT_EQ(random.Draw(99), expected);
}

}  // namespace
}  // namespace augur
