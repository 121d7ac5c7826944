// SPDX-License-Identifier: Apache-2.0
#include "datasets/sequence_detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace augur {
namespace {

using Random = std::mt19937_64;

// Files 0 to count - 1, in the order of their numbers.
NextFiles Counting(EntryNumber count) {
  return [count](EntryNumber file, size_t wanted, Order* files) {
    for (size_t i = 1; i <= wanted && file + i < count; ++i) files->push_back(static_cast<EntryNumber>(file + i));
  };
}

Order Sequence(EntryNumber first, EntryNumber end) {
  Order order(end - first);
  std::iota(order.begin(), order.end(), first);
  return order;
}

Order Shuffled(EntryNumber count, Random& random) {
  Order order = Sequence(0, count);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

// What a DataLoader's workers read of `order`: batch b goes to worker b mod workers, each reads its batches in turn,
// and who goes on next is chance.
Order Interleaved(const Order& order, size_t workers, size_t batch, Random& random) {
  std::vector<Order> queues(workers);
  for (size_t at = 0; at < order.size(); ++at) queues[at / batch % workers].push_back(order[at]);
  std::vector<size_t> done(workers, 0);
  // A worker is not more than two batches before the slowest: the loader hands out a batch for a batch.
  Order reads;
  while (reads.size() < order.size()) {
    const size_t worker = random() % workers;
    size_t slowest = order.size();
    for (size_t i = 0; i < workers; ++i) {
      if (done[i] < queues[i].size()) slowest = std::min(slowest, done[i]);
    }
    if (done[worker] == queues[worker].size() || done[worker] >= slowest + 2 * batch) continue;
    reads.push_back(queues[worker][done[worker]++]);
  }
  return reads;
}

void ObserveAll(SequenceDetector& detector, const Order& reads) {
  for (const EntryNumber file : reads) detector.Observe(file);
}

// Number of reads after which there is a run; the number of all when there never is.
size_t ReadsUntilRecognised(SequenceDetector& detector, const Order& reads) {
  for (size_t count = 0; count < reads.size(); ++count) {
    if (detector.following()) return count;
    detector.Observe(reads[count]);
  }
  return reads.size();
}

TEST(SequenceDetectorTest, OneReaderIsRecognisedAtItsFifteenthReadAndTheRestIsHandedOut) {
  SequenceDetector detector(Counting(50'000), 50'000);
  EXPECT_EQ(ReadsUntilRecognised(detector, Sequence(1000, 2000)), 15U);
  EXPECT_EQ(detector.Take(3), (Order{1015, 1016, 1017}));
  EXPECT_EQ(detector.Take(2), (Order{1018, 1019}));
  ObserveAll(detector, Sequence(1015, 1030));
  // What was read in the meantime is not handed out.
  EXPECT_EQ(detector.Take(2), (Order{1030, 1031}));
  EXPECT_EQ(detector.runs_begun(), 1U);
}

TEST(SequenceDetectorTest, EndsWithTheOrder) {
  SequenceDetector detector(Counting(1000), 1000);
  ObserveAll(detector, Sequence(0, 20));
  EXPECT_EQ(detector.Take(5000), Sequence(20, 1000));
  EXPECT_TRUE(detector.Take(10).empty());
  ObserveAll(detector, Sequence(20, 1000));
  EXPECT_TRUE(detector.Take(10).empty());
  EXPECT_EQ(detector.runs_broken(), 0U);
}

TEST(SequenceDetectorTest, EveryEpochIsRecognised) {
  SequenceDetector detector(Counting(3000), 3000);
  for (int epoch = 0; epoch < 5; ++epoch) {
    ObserveAll(detector, Sequence(0, 20));
    EXPECT_EQ(detector.Take(5000), Sequence(20, 3000)) << "epoch " << epoch;
    ObserveAll(detector, Sequence(20, 3000));
  }
  EXPECT_EQ(detector.runs_begun(), 5U);
  EXPECT_EQ(detector.runs_broken(), 0U);
}

TEST(SequenceDetectorTest, IsNotFarBeforeTheReader) {
  SequenceDetector detector(Counting(500'000), 500'000);
  ObserveAll(detector, Sequence(0, 20));
  // The second foremost read is what counts: of file 18, then 118.
  EXPECT_EQ(detector.Take(400'000), Sequence(20, 18 + SequenceRun::kAheadFiles));
  ObserveAll(detector, Sequence(20, 120));
  EXPECT_EQ(detector.Take(400'000), Sequence(18 + SequenceRun::kAheadFiles, 118 + SequenceRun::kAheadFiles));
}

TEST(SequenceDetectorTest, SmallStoresAreNotLookedAt) {
  SequenceDetector detector(Counting(511), 511);
  ObserveAll(detector, Sequence(0, 511));
  EXPECT_EQ(detector.runs_begun(), 0U);
}

struct Loader {
  size_t workers;
  size_t batch;
  EntryNumber files;
  unsigned seed;
};

std::string Name(const ::testing::TestParamInfo<Loader>& info) {
  return std::to_string(info.param.workers) + "x" + std::to_string(info.param.batch);
}

class LoaderTest : public ::testing::TestWithParam<Loader> {};

// Each file of the pass is either read before the pass is recognised or handed out, once.
TEST_P(LoaderTest, WorkersSideBySideAreOnePass) {
  const Loader& loader = GetParam();
  Random random(loader.seed);
  const Order reads = Interleaved(Sequence(0, loader.files), loader.workers, loader.batch, random);
  SequenceDetector detector(Counting(loader.files), loader.files);
  const size_t until = ReadsUntilRecognised(detector, reads);
  EXPECT_LE(until, 40 * loader.workers + 40);
  std::vector<int> handed(loader.files, 0);
  std::vector<bool> before(loader.files, false);
  for (size_t at = 0; at < reads.size(); ++at) {
    before[reads[at]] = at < until;
    if (at >= until) {
      for (const EntryNumber file : detector.Take(4)) ++handed[file];
      detector.Observe(reads[at]);
    }
  }
  EXPECT_LE(*std::max_element(handed.begin(), handed.end()), 1) << "none is handed out twice";
  size_t missed = 0;
  size_t late = 0;
  for (EntryNumber file = 0; file < loader.files; ++file) {
    if (handed[file] == 0 && !before[file]) ++missed;
    if (handed[file] == 1 && before[file]) ++late;
  }
  // What is read between the recognition and its handing out; what was read so long ago that it was forgotten.
  EXPECT_LE(missed, 60 * loader.workers);
  EXPECT_LE(late, until > 128 ? until - 128 : 0);
  EXPECT_EQ(detector.runs_broken(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Loaders, LoaderTest,
                         ::testing::Values(Loader{1, 32, 5000, 1}, Loader{2, 8, 5000, 2}, Loader{4, 32, 20000, 3},
                                           Loader{4, 64, 20000, 4}, Loader{8, 4, 20000, 5}, Loader{8, 128, 50000, 6},
                                           Loader{16, 32, 50000, 7}, Loader{16, 128, 100000, 8}, Loader{3, 1, 5000, 9},
                                           Loader{12, 16, 20000, 10}),
                         Name);

class SeedTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(SeedTest, UnseenReadsDoNotHideAPass) {
  Random random(GetParam());
  Order seen;
  for (const EntryNumber file : Interleaved(Sequence(0, 20'000), 4, 32, random)) {
    if (random() % 2 == 0) seen.push_back(file);
  }
  SequenceDetector detector(Counting(20'000), 20'000);
  EXPECT_LE(ReadsUntilRecognised(detector, seen), 300U);
  ObserveAll(detector, seen);
  EXPECT_EQ(detector.runs_broken(), 0U);
}

TEST_P(SeedTest, OneReadInSixtyFourIsEnoughOnceThePassIsKnown) {
  Random random(GetParam());
  const Order reads = Interleaved(Sequence(0, 100'000), 4, 32, random);
  SequenceDetector detector(Counting(100'000), 100'000);
  const size_t until = ReadsUntilRecognised(detector, reads);
  size_t handed = 0;
  for (size_t at = until; at < reads.size(); ++at) {
    handed += detector.Take(1).size();
    if (random() % 64 == 0) detector.Observe(reads[at]);
    ASSERT_TRUE(detector.following()) << "after " << at << " reads";
  }
  EXPECT_GE(handed, reads.size() - until - size_t{256});
  EXPECT_EQ(detector.runs_begun(), 1U);
}

TEST_P(SeedTest, LargeFilesAreReadInPieces) {
  Random random(GetParam());
  const Order reads = Interleaved(Sequence(0, 5000), 2, 32, random);
  SequenceDetector detector(Counting(5000), 5000);
  for (size_t at = 0; at + 1 < reads.size(); at += 2) {
    for (int piece = 0; piece < 8; ++piece) {
      detector.Observe(reads[at]);
      detector.Observe(reads[at + 1]);
    }
    if (at >= 200) {
      ASSERT_TRUE(detector.following());
    }
  }
  EXPECT_LE(detector.runs_begun(), 2U) << "the second reader may be recognised by itself, then the two are one";
}

// The promise of the class comment: no shuffled pass is taken for a sequential one.
TEST_P(SeedTest, ShuffledEpochsAreNeverRecognised) {
  Random random(GetParam());
  for (const EntryNumber count : {512U, 700U, 1000U, 3000U, 8192U, 30'000U, 200'000U}) {
    SequenceDetector detector(Counting(count), count);
    const int epochs = static_cast<int>(std::max<EntryNumber>(1, 30'000 / count));
    for (int epoch = 0; epoch < epochs; ++epoch) {
      ObserveAll(detector, Interleaved(Shuffled(count, random), 4, 32, random));
    }
    EXPECT_EQ(detector.runs_begun(), 0U) << count << " files, seed " << GetParam();
  }
}

// A shuffled validation set of 2,500 files, next to each other in a store of a million.
TEST_P(SeedTest, AShuffledFolderOfALargeStoreIsNotRecognised) {
  Random random(GetParam());
  SequenceDetector detector(Counting(1'000'000), 1'000'000);
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const EntryNumber file : Shuffled(2500, random)) detector.Observe(400'000 + file);
  }
  EXPECT_EQ(detector.runs_begun(), 0U) << "seed " << GetParam();
}

TEST_P(SeedTest, ARunOfWhichTheReaderGoesOnAtRandomIsGivenUp) {
  Random random(GetParam());
  SequenceDetector detector(Counting(200'000), 200'000);
  ObserveAll(detector, Sequence(0, 50'000));
  EXPECT_TRUE(detector.following());
  const Order shuffled = Shuffled(200'000, random);
  ObserveAll(detector, Order(shuffled.begin(), shuffled.begin() + 8000));
  EXPECT_FALSE(detector.following());
  EXPECT_TRUE(detector.Take(10).empty());
  EXPECT_EQ(detector.runs_broken(), 1U);
}

TEST_P(SeedTest, AShuffledReaderBesideItDoesNotHideAPass) {
  Random random(GetParam());
  constexpr EntryNumber kFiles = 200'000;
  SequenceDetector detector(Counting(kFiles), kFiles);
  const Order shuffled = Shuffled(kFiles, random);
  for (EntryNumber at = 0; at < 20'000; ++at) {
    detector.Observe(shuffled[at]);
    detector.Observe(100'000 + at);
    if (at >= 100) {
      ASSERT_TRUE(detector.following()) << at;
    }
  }
  const Order coming = detector.Take(100'000);
  // Some of what comes was read by the other already.
  EXPECT_GE(std::count_if(coming.begin(), coming.end(), [](EntryNumber file) { return file / 1000 == 120; }), 800);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SeedTest, ::testing::Range(1U, 9U));

TEST(SequenceDetectorTest, TwoPassesInTwoPlacesAreTwoRuns) {
  SequenceDetector detector(Counting(100'000), 100'000);
  for (EntryNumber at = 0; at < 100; ++at) {
    detector.Observe(at);
    detector.Observe(50'000 + at);
  }
  EXPECT_EQ(detector.runs_begun(), 2U);
  const Order one = detector.Take(10);
  const Order two = detector.Take(10);
  EXPECT_EQ(std::min(one.front(), two.front()), 100U);
  EXPECT_EQ(std::max(one.front(), two.front()), 50'100U);
}

TEST(SequenceDetectorTest, AReaderBehindAnotherIsAPassOfItsOwn) {
  SequenceDetector detector(Counting(100'000), 100'000);
  ObserveAll(detector, Sequence(0, 5000));
  for (EntryNumber at = 0; at < 300; ++at) {
    detector.Observe(5000 + at);
    detector.Observe(at);
  }
  EXPECT_EQ(detector.runs_begun(), 2U);
  const Order files = detector.Take(20);
  const Order more = detector.Take(20);
  EXPECT_EQ(std::min(files.front(), more.front()), 300U);
  EXPECT_EQ(std::max(files.front(), more.front()), 5300U);
}

TEST(SequenceDetectorTest, WhatIsForgottenIsRecognisedAnew) {
  SequenceDetector detector(Counting(100'000), 100'000);
  ObserveAll(detector, Sequence(0, 1000));
  detector.Forget();
  EXPECT_FALSE(detector.following());
  EXPECT_TRUE(detector.Take(10).empty());
  ObserveAll(detector, Sequence(40'000, 40'100));
  EXPECT_EQ(detector.Take(2), Sequence(40'100, 40'102));
}

TEST(SequenceDetectorTest, AReaderThatJumpsIsFollowed) {
  SequenceDetector detector(Counting(100'000), 100'000);
  ObserveAll(detector, Sequence(0, 1000));
  ObserveAll(detector, Sequence(70'000, 71'000));
  EXPECT_EQ(detector.Take(2), Sequence(71'000, 71'002));
  EXPECT_EQ(detector.runs_broken(), 1U);
  // A short way ahead, in what the run knows: the same run.
  ObserveAll(detector, Sequence(75'000, 75'100));
  EXPECT_EQ(detector.runs_begun(), 2U);
}

}  // namespace
}  // namespace augur
