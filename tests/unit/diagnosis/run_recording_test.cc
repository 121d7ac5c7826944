// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/run_recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace augur {
namespace {

// Accesses of epochs over files 0 to count - 1, each shuffled, a microsecond apart; each file is opened and read.
std::vector<SeenAccess> Shuffled(uint32_t count, int epochs, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> files(count);
  std::iota(files.begin(), files.end(), 0U);
  std::vector<SeenAccess> accesses;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::ranges::shuffle(files, random);
    for (const uint32_t file : files) {
      for (const bool read : {true, false}) {
        accesses.push_back({.time_us = accesses.size(), .file = file, .read = read});
      }
    }
  }
  return accesses;
}

TEST(SplitEpochsTest, EachPassIsOne) {
  for (const uint32_t count : {40U, 300U, 5000U}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      const std::vector<EpochSpan> epochs = SplitEpochs(Shuffled(count, 3, seed));
      ASSERT_EQ(epochs.size(), 3U) << count << " files, seed " << seed;
      EXPECT_EQ(epochs.front().first, 0U);
      EXPECT_EQ(epochs.back().last, size_t{6} * count);
      for (size_t i = 0; i < epochs.size(); ++i) {
        // A file or two of the end may come again at the begin of the next one.
        EXPECT_NEAR(static_cast<double>(epochs[i].files), count, count / 8.0 + 2) << count << " files, seed " << seed;
        if (i > 0) {
          EXPECT_EQ(epochs[i].first, epochs[i - 1].last);
        }
        EXPECT_LE(epochs[i].begin_us, epochs[i].end_us);
      }
    }
  }
}

TEST(SplitEpochsTest, APassInPathOrderToo) {
  std::vector<SeenAccess> accesses;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (uint32_t file = 0; file < 100; ++file) accesses.push_back({.time_us = accesses.size(), .file = file});
  }
  const std::vector<EpochSpan> epochs = SplitEpochs(accesses);
  ASSERT_EQ(epochs.size(), 2U);
  EXPECT_EQ(epochs[0].files, 100U);
  EXPECT_EQ(epochs[1].first, 100U);
  EXPECT_EQ(epochs[1].files, 100U);
}

TEST(SplitEpochsTest, PiecesOfOneFileAreOneAccess) {
  std::vector<SeenAccess> accesses;
  for (uint32_t i = 0; i < 1000; ++i) accesses.push_back({.time_us = i, .file = i / 100, .read = true});
  const std::vector<EpochSpan> epochs = SplitEpochs(accesses);
  ASSERT_EQ(epochs.size(), 1U);
  EXPECT_EQ(epochs[0].files, 10U);
}

TEST(SplitEpochsTest, OpensAreToldLate) {
  // Forty READs, then their opens in a batch, and so on.
  std::vector<SeenAccess> accesses;
  for (uint32_t begin = 0; begin < 400; begin += 40) {
    for (const bool read : {true, false}) {
      for (uint32_t file = begin; file < begin + 40; ++file) {
        accesses.push_back({.time_us = accesses.size(), .file = file, .read = read});
      }
    }
  }
  const std::vector<EpochSpan> epochs = SplitEpochs(accesses);
  ASSERT_EQ(epochs.size(), 1U);
  EXPECT_EQ(epochs[0].files, 400U);
}

// On a busy machine they are told after seconds, when others are read already.
TEST(SplitEpochsTest, OpensMayBeToldSecondsLate) {
  constexpr uint32_t kFiles = 300;
  constexpr uint32_t kLate = 150;  // files
  std::vector<SeenAccess> accesses;
  for (uint32_t i = 0; i < kFiles + kLate; ++i) {
    const uint64_t time_us = uint64_t{i} * 20'000;
    if (i < kFiles) accesses.push_back({.time_us = time_us, .file = i, .read = true});
    if (i >= kLate) accesses.push_back({.time_us = time_us, .file = i - kLate, .read = false});
  }
  const std::vector<EpochSpan> epochs = SplitEpochs(accesses);
  ASSERT_EQ(epochs.size(), 1U);
  EXPECT_EQ(epochs[0].files, kFiles);
}

// The folder is watched so late that the first epoch has READs alone, and a short one; of the others, which the page
// cache serves, there are opens alone. They are not those of the READs.
TEST(SplitEpochsTest, OpensOfTheNextEpochAreNotLateOnes) {
  constexpr uint32_t kFiles = 300;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<SeenAccess> accesses = Shuffled(kFiles, 5, seed);
    std::erase_if(accesses, [&](const SeenAccess& access) { return access.read != (access.time_us < 2ULL * kFiles); });
    const std::vector<EpochSpan> epochs = SplitEpochs(accesses);
    ASSERT_EQ(epochs.size(), 5U) << "seed " << seed;
    for (const EpochSpan& epoch : epochs) EXPECT_GE(epoch.files, kFiles * 3 / 4) << "seed " << seed;
  }
}

TEST(SplitEpochsTest, SingleFilesThatComeAgainAreNoEpoch) {
  std::vector<SeenAccess> accesses;
  for (uint32_t i = 0; i < 1000; ++i) {
    accesses.push_back({.time_us = i, .file = i});
    if (i >= 200 && i % 10 == 0) accesses.push_back({.time_us = i, .file = i - 200});
  }
  EXPECT_EQ(SplitEpochs(accesses).size(), 1U);
  EXPECT_TRUE(SplitEpochs({}).empty());
}

}  // namespace
}  // namespace augur
