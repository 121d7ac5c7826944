// SPDX-License-Identifier: Apache-2.0
#include "prefetch/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace augur {
namespace {

FilePlace Place(EntryNumber file) {
  return {.shard = 0, .offset = uint64_t{file} * 1000, .record_bytes = 1000, .bytes = 1000};
}

Order Shuffled(uint32_t count, uint64_t seed) {
  Order order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

// The positions of an epoch as worker processes read them, which take batches of 32 in turn and run at speeds of their
// own, two batches ahead at the most.
std::vector<Position> AsWorkersRead(size_t files, size_t workers, uint64_t seed) {
  constexpr size_t kBatch = 32;
  std::mt19937_64 random(seed);
  std::vector<size_t> next(workers, 0);  // of the reads of each worker
  const auto position = [&](size_t worker) {
    return (next[worker] / kBatch * workers + worker) * kBatch + next[worker] % kBatch;
  };
  std::vector<Position> reads;
  while (reads.size() < files) {
    size_t least = files;
    for (size_t worker = 0; worker < workers; ++worker) least = std::min(least, position(worker));
    size_t worker = random() % workers;
    while (position(worker) >= files || position(worker) >= least + 2 * workers * kBatch) {
      worker = (worker + 1) % workers;
    }
    reads.push_back(position(worker));
    ++next[worker];
  }
  return reads;
}

// A track of shuffled epochs and the progress through it.
class ProgressTest : public testing::Test {
 protected:
  void Epochs(uint32_t files, int count) {
    for (int i = 0; i < count; ++i) {
      epochs_.push_back(Shuffled(files, 10 + static_cast<uint64_t>(i)));
      track_.Append(epochs_.back());
    }
  }
  Progress::Seen See(EntryNumber file) { return progress_.See(track_.SlotOf(file)); }
  void ReadInOrder(const Order& order, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) See(order[i]);
  }

  std::vector<Order> epochs_;
  Track track_{Place};
  ProgressOptions options_;
  Progress progress_{track_, options_};
};

TEST_F(ProgressTest, ReadsInOrderMoveTheFrontThroughAllEpochs) {
  Epochs(3000, 2);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (Position i = 0; i < 3000; ++i) {
      const Position position = static_cast<Position>(epoch) * 3000 + i;
      const Progress::Seen seen = See(epochs_[epoch][i]);
      ASSERT_EQ(seen.kind, Progress::Kind::kNew) << position;
      ASSERT_EQ(seen.position, position);
      ASSERT_LE(progress_.front(), position + 1);
      ASSERT_GE(progress_.front() + options_.support, position + 1);
      ASSERT_TRUE(progress_.WasRead(position));
      ASSERT_FALSE(progress_.WasRead(position + 1));
      // What was read `lag` ago is done with.
      ASSERT_GE(progress_.tail() + options_.lag + options_.support, position + 1);
      if (position + 1 < track_.end()) {
        ASSERT_LE(progress_.tail() + options_.lag, std::max<Position>(progress_.front(), options_.lag));
      }
    }
  }
  EXPECT_EQ(progress_.front(), track_.end()) << "the last reads of all have nothing behind them that supports them";
}

// Opens are told in batches, some hundred files late where the reader finds its files in the page cache; the READ of a
// file that is not there is told at once. In a short epoch a file's next use is near: the open that comes late must not
// be taken for that.
TEST_F(ProgressTest, AnOpenThatIsToldAfterItsReadIsTheSameRead) {
  constexpr size_t kFiles = 2000;
  options_.lag = 28;
  options_.opens = true;
  progress_.SetOptions(options_);
  Epochs(kFiles, 3);
  Order all;
  for (const Order& epoch : epochs_) all.insert(all.end(), epoch.begin(), epoch.end());
  std::mt19937_64 random(1);
  size_t told = 0;
  for (size_t at = 0; at < all.size(); ++at) {
    if (random() % 20 == 0) progress_.See(track_.SlotOf(all[at]), true);
    if (random() % 150 == 0 || at + 1 == all.size()) {
      for (; told <= at; ++told) {
        const Progress::Seen seen = See(all[told]);
        ASSERT_TRUE(seen.kind == Progress::Kind::kNew || seen.kind == Progress::Kind::kOld) << told;
        ASSERT_EQ(seen.position, told);
      }
    }
    ASSERT_LE(progress_.front(), at + 1);
  }
  EXPECT_EQ(progress_.front(), track_.end());
}

TEST_F(ProgressTest, InterleavedWorkersAreOneReader) {
  constexpr size_t kWorkers = 4;
  constexpr size_t kSpread = 2 * kWorkers * 32;
  constexpr size_t kFiles = 9600;
  Epochs(kFiles, 1);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Progress progress(track_, options_);
    std::vector<bool> read(kFiles, false);
    for (const Position at : AsWorkersRead(kFiles, kWorkers, seed)) {
      const Progress::Seen seen = progress.See(track_.At(at));
      ASSERT_EQ(seen.kind, Progress::Kind::kNew) << at;
      ASSERT_EQ(seen.position, at);
      read[at] = true;
      const size_t unread = static_cast<size_t>(std::find(read.begin(), read.end(), false) - read.begin());
      // Never past a file that is still to be read by more than workers are apart, and the tail never past it at all.
      ASSERT_LE(progress.tail(), unread);
      ASSERT_LE(progress.front(), unread + kSpread);
      ASSERT_GE(progress.front() + options_.support, unread);
    }
    EXPECT_EQ(progress.front(), kFiles);
  }
}

TEST_F(ProgressTest, ReadsThatAreNotSeenArePassed) {
  Epochs(20'000, 1);
  const Order& order = epochs_[0];
  const ProgressOptions options = {.unseen_max = 128, .support = 1};  // as with sentinels: one in 64 is seen
  Progress progress(track_, options);
  for (Position i = 63; i < order.size(); i += 64) {
    ASSERT_EQ(progress.See(track_.SlotOf(order[i])).kind, Progress::Kind::kNew);
    ASSERT_EQ(progress.front(), i + 1);
    if (i > 1000) {
      ASSERT_GE(progress.tail() + options.unseen_max, i + 1);
    }
  }
}

TEST_F(ProgressTest, AFileThatWasNeverOpenedDoesNotHoldTheTailForEver) {
  Epochs(10'000, 1);
  for (Position i = 0; i < 10'000; ++i) {
    if (i % 100 != 50) See(epochs_[0][i]);
  }
  EXPECT_GE(progress_.tail() + options_.unseen_max + 1, progress_.front());
}

TEST_F(ProgressTest, TheReaderIsDoneWithEachFileOnceAndSoon) {
  Epochs(5000, 2);
  std::vector<int> passed(10'000, 0);
  for (Position i = 0; i < 10'000; ++i) {
    if (i % 500 != 77) See(epochs_[i / 5000][i % 5000]);
    for (const Position position : progress_.TakePassed()) ++passed[position];
    if (i < 200 || (i - 200) % 500 == 77) continue;
    // A file that was not seen holds up no other. (One that comes again within the lag is taken for the same read.)
    const Position before = i - 200;
    const EntryNumber file = track_.FileOf(track_.At(std::max(before, track_.begin())));
    const size_t last = epochs_[0].size() - size_t{2} * options_.lag;
    const bool again = before >= 5000 && std::find(epochs_[0].begin() + static_cast<ptrdiff_t>(last), epochs_[0].end(),
                                                   file) != epochs_[0].end();
    if (!again) {
      ASSERT_EQ(passed[before], 1) << before;
    }
  }
  for (Position i = 0; i < 8900; ++i) EXPECT_EQ(passed[i], 1) << i;
}

TEST_F(ProgressTest, AnOpenAndItsReadAreOneRead) {
  Epochs(1000, 2);
  for (Position i = 0; i < 500; ++i) {
    ASSERT_EQ(See(epochs_[0][i]).kind, Progress::Kind::kNew);
    ASSERT_EQ(See(epochs_[0][i]).kind, Progress::Kind::kOld);
    ASSERT_LE(progress_.front(), i + 1);
  }
  for (Position i = 0; i < 1000; ++i) ASSERT_FALSE(progress_.WasRead(1000 + i)) << "of the second epoch";
}

TEST_F(ProgressTest, AFileTwiceInAnEpochIsReadTwice) {
  Order order = Shuffled(1000, 1);
  order.insert(order.begin() + 600, order[100]);
  track_.Append(order);
  for (Position i = 0; i < order.size(); ++i) {
    const Progress::Seen seen = See(order[i]);
    ASSERT_EQ(seen.kind, Progress::Kind::kNew) << i;
    ASSERT_EQ(seen.position, i);
  }
}

TEST_F(ProgressTest, TheSameFileInTheNextEpochAtOnceIsARead) {
  Epochs(300, 1);
  track_.Append(epochs_[0]);
  ReadInOrder(epochs_[0], 0, 300);
  for (Position i = 0; i < 300; ++i) {
    const Progress::Seen seen = See(epochs_[0][i]);
    ASSERT_EQ(seen.kind, Progress::Kind::kNew);
    ASSERT_EQ(seen.position, 300 + i);
  }
}

TEST_F(ProgressTest, AStrangerAloneDoesNotMoveTheFront) {
  Epochs(50'000, 2);
  ReadInOrder(epochs_[0], 0, 5000);
  const Position front = progress_.front();
  const Order listing = Shuffled(50'000, 77);
  for (size_t i = 0; i < 20'000; ++i) ASSERT_NE(See(listing[i]).kind, Progress::Kind::kJump);
  EXPECT_LE(progress_.front(), front + options_.spread_max);
  EXPECT_GE(progress_.front(), front);
}

TEST_F(ProgressTest, TheReaderIsFollowedBesideAStranger) {
  Epochs(50'000, 1);
  const Order stranger = Shuffled(50'000, 78);
  for (Position i = 0; i < 20'000; ++i) {
    See(epochs_[0][i]);
    See(stranger[i]);
    if (i > 100) {
      ASSERT_GE(progress_.front() + Position{2} * options_.support, i);
      ASSERT_LE(progress_.front(), i + options_.spread_max);
    }
  }
}

TEST_F(ProgressTest, ARestartIsFollowed) {
  Epochs(20'000, 2);
  for (const size_t stopped : {3000, 12'000, 19'990}) {
    progress_.Restart(track_.begin());
    ReadInOrder(epochs_[0], 0, stopped);
    int jumps = 0;
    for (Position i = 0; i < 100; ++i) jumps += See(epochs_[0][i]).kind == Progress::Kind::kJump ? 1 : 0;
    EXPECT_EQ(jumps, 1) << stopped;
    EXPECT_GE(progress_.front() + options_.support, 100U) << stopped;
    EXPECT_LE(progress_.front(), 100U) << stopped;
    EXPECT_FALSE(progress_.WasRead(100)) << "what was read before is read again";
    ReadInOrder(epochs_[0], 100, 6000);
    EXPECT_GE(progress_.front() + options_.support, 6000U) << stopped;
  }
}

TEST_F(ProgressTest, AResumeInMidEpochIsFollowed) {
  Epochs(20'000, 1);
  ReadInOrder(epochs_[0], 0, 10);
  ReadInOrder(epochs_[0], 15'000, 15'100);
  EXPECT_GE(progress_.front() + options_.support, 15'100U);
  EXPECT_LE(progress_.front(), 15'100U);
  EXPECT_TRUE(progress_.WasRead(9000)) << "is left behind";
}

TEST_F(ProgressTest, AnEpochThatEndsEarlyIsFollowedByTheNext) {
  Epochs(20'000, 2);
  ReadInOrder(epochs_[0], 0, 4000);
  ReadInOrder(epochs_[1], 0, 300);
  EXPECT_GE(progress_.front() + options_.support, 20'300U);
  EXPECT_LE(progress_.front(), 20'300U);
}

// A run ended in its second epoch of ten, and the next one has given its ten as well: the same, or others. Epochs that
// are no longer than the spread of the workers hold every file near every other.
TEST_F(ProgressTest, ARunThatBeginsAnewIsFoundBehindWhatTheLastOneLeft) {
  for (const uint32_t files : {800U, 2500U, 20'000U}) {
    for (const bool same : {true, false}) {
      for (const size_t workers : {1U, 4U, 12U}) {
        SCOPED_TRACE(std::to_string(files) + (same ? ", the same, " : ", others, ") + std::to_string(workers));
        Track track(Place);
        Progress progress(track, options_);
        std::vector<Order> runs;
        for (uint64_t epoch = 0; epoch < 20; ++epoch) {
          runs.push_back(Shuffled(files, same ? epoch % 10 : epoch));
          if (epoch < 10) track.Append(runs.back());
        }
        const auto read = [&](const Order& order, size_t count) {
          const std::vector<Position> reads = AsWorkersRead(files, workers, files);
          for (size_t i = 0; i < count; ++i) {
            progress.See(track.SlotOf(order[reads[i]]));
            track.PopBefore(progress.base());
          }
        };
        read(runs[0], files);
        read(runs[1], files / 2);
        ASSERT_LT(progress.front(), size_t{2} * files);
        for (size_t epoch = 10; epoch < 20; ++epoch) track.Append(runs[epoch]);
        read(runs[10], 300);
        EXPECT_GE(progress.front(), size_t{10} * files + 200);
        EXPECT_LE(progress.front(), size_t{10} * files + 300 + 64 * workers);
        EXPECT_FALSE(progress.lost());
      }
    }
  }
}

// As a validation pass is.
TEST_F(ProgressTest, EpochsThatAreAllTheSameAreReadOneAfterTheOther) {
  for (int epoch = 0; epoch < 4; ++epoch) track_.Append(Shuffled(3000, 1));
  for (Position i = 0; i < 12'000; ++i) {
    ASSERT_NE(See(track_.FileOf(track_.At(i))).kind, Progress::Kind::kJump) << i;
    ASSERT_LE(progress_.front(), i + 1);
    track_.PopBefore(progress_.base());
  }
  EXPECT_EQ(progress_.front(), track_.end());
}

// Of three epochs with files of their own the first is forgotten, and the third is read.
TEST_F(ProgressTest, AFileOfAnEpochThatIsOverIsInNoneThatComes) {
  constexpr EntryNumber kFiles = 600;
  for (EntryNumber epoch = 0; epoch < 3; ++epoch) {
    Order order;
    for (const EntryNumber file : Shuffled(kFiles, epoch)) order.push_back(epoch * kFiles + file);
    track_.Append(order);
  }
  for (Position i = 0; i < 2 * kFiles + 300; ++i) See(track_.FileOf(track_.At(i)));
  track_.PopBefore(kFiles);
  EXPECT_EQ(See(kFiles + 5).kind, Progress::Kind::kForeign);
  EXPECT_LE(progress_.front(), 2 * kFiles + 300);
}

TEST_F(ProgressTest, WhatNobodyReadsIsLost) {
  for (const uint32_t files : {600U, 2500U, 50'000U}) {
    SCOPED_TRACE(files);
    Track track(Place);
    Progress progress(track, options_);
    for (uint64_t epoch = 0; epoch < 5; ++epoch) track.Append(Shuffled(files, epoch));
    bool lost = false;
    uint64_t reads = 0;
    for (uint64_t seed = 100; !lost && reads < 20'000; ++seed) {
      for (const EntryNumber file : Shuffled(files, seed)) {
        progress.See(track.SlotOf(file));
        lost = lost || progress.lost();
        if (++reads == 1000) {
          ASSERT_FALSE(lost) << "a look at some files is not a run";
        }
      }
    }
    EXPECT_TRUE(lost);
  }
}

TEST_F(ProgressTest, WhatIsReadIsNotLost) {
  Epochs(50'000, 1);
  // Beside eight strangers; and by workers so many that no two of the last reads are neighbours.
  for (const bool strangers : {true, false}) {
    Progress progress(track_, options_);
    const std::vector<Position> reads = AsWorkersRead(50'000, strangers ? 1 : 15, 1);
    std::mt19937_64 random(5);
    for (size_t i = 0; i < 5000; ++i) {
      for (int other = 0; strangers && other < 8; ++other) {
        progress.See(track_.SlotOf(static_cast<EntryNumber>(random() % 50'000)));
        ASSERT_FALSE(progress.lost()) << i;
      }
      progress.See(track_.SlotOf(epochs_[0][reads[i]]));
      ASSERT_FALSE(progress.lost()) << i;
    }
  }
}

// Where one read in 64 is seen, the reads that are seen are neighbours of none.
TEST_F(ProgressTest, WhatIsHardlySeenIsNotLost) {
  Epochs(50'000, 1);
  Progress progress(track_, {.unseen_max = 128, .support = 1});
  std::mt19937_64 random(6);
  for (Position i = 0; i < 50'000; i += 64) {
    for (int other = 0; other < 20; ++other) progress.See(static_cast<Slot>(random() % 50'000));
    progress.See(track_.SlotOf(epochs_[0][i]));
    ASSERT_FALSE(progress.lost()) << i;
  }
}

TEST_F(ProgressTest, FourFilesSeenTwiceElsewhereAreNoJump) {
  Epochs(20'000, 1);
  ReadInOrder(epochs_[0], 0, 10);
  for (Position i = 15'000; i < 15'004; ++i) {
    EXPECT_EQ(See(epochs_[0][i]).kind, Progress::Kind::kForeign);
    EXPECT_EQ(See(epochs_[0][i]).kind, Progress::Kind::kForeign);
  }
  EXPECT_LE(progress_.front(), 10U);
}

TEST_F(ProgressTest, SomeFilesAgainAreNoJump) {
  Epochs(5000, 1);
  ReadInOrder(epochs_[0], 0, 1000);
  for (Position i = 960; i < 1000; ++i) EXPECT_EQ(See(epochs_[0][i]).kind, Progress::Kind::kOld);
  EXPECT_GE(progress_.front() + options_.support, 1000U);
  EXPECT_LE(progress_.front(), 1000U);
}

// Pages of files that were opened long ago, by who maps his files. Where no opens are seen, that may be a restart.
TEST_F(ProgressTest, PagesOfFormerFilesAreNoJumpWhereOpensAreSeen) {
  Epochs(5000, 1);
  for (const bool opens : {true, false}) {
    Progress progress(track_, {.opens = opens});
    for (Position i = 0; i < 3000; ++i) progress.See(track_.At(i));
    const auto read = [&](bool missed) {
      size_t jumps = 0;
      for (Position i = 1000; i < 1040; ++i) {
        jumps += progress.See(track_.At(i), missed).kind == Progress::Kind::kJump ? 1 : 0;
      }
      return jumps;
    };
    EXPECT_EQ(read(true), opens ? 0U : 1U);
    if (opens) {
      EXPECT_EQ(read(false), 1U);
    }
  }
}

TEST_F(ProgressTest, AnEmptyTrackHasNoFront) {
  track_.Meet({1, 2, 3});
  EXPECT_EQ(See(1).kind, Progress::Kind::kForeign);
  EXPECT_EQ(progress_.front(), 0U);
  EXPECT_FALSE(progress_.WasRead(0));
}

TEST_F(ProgressTest, ShortEpochsAreReadToTheirEnd) {
  for (const uint32_t files : {1U, 2U, 3U, 5U, 70U}) {
    Track track(Place);
    Progress progress(track, options_);
    const Order order = Shuffled(files, files);
    track.Append(order);
    for (const EntryNumber file : order) progress.See(track.SlotOf(file));
    EXPECT_EQ(progress.front(), files);
  }
}

}  // namespace
}  // namespace augur
