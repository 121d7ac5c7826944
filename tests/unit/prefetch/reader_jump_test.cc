// SPDX-License-Identifier: Apache-2.0
#include "prefetch/reader_position.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "unit/prefetch/reader_position_fixture.h"

namespace augur {
namespace {

TEST_F(ReaderPositionTest, AStrangerAloneDoesNotMoveTheFront) {
  Epochs(50'000, 2);
  ReadInOrder(epochs_[0], 0, 5000);
  const Position front = reader_.front();
  const Order listing = Shuffled(50'000, 77);
  for (size_t i = 0; i < 20'000; ++i) ASSERT_NE(OnAccess(listing[i]).kind, ReaderPosition::Kind::kJump);
  EXPECT_LE(reader_.front(), front + options_.spread_max);
  EXPECT_GE(reader_.front(), front);
}

TEST_F(ReaderPositionTest, TheReaderIsFollowedBesideAStranger) {
  Epochs(50'000, 1);
  const Order stranger = Shuffled(50'000, 78);
  for (Position i = 0; i < 20'000; ++i) {
    OnAccess(epochs_[0][i]);
    OnAccess(stranger[i]);
    if (i > 100) {
      ASSERT_GE(reader_.front() + Position{2} * options_.support, i);
      ASSERT_LE(reader_.front(), i + options_.spread_max);
    }
  }
}

TEST_F(ReaderPositionTest, ARestartIsFollowed) {
  Epochs(20'000, 2);
  for (const size_t stopped : {3000, 12'000, 19'990}) {
    reader_.Restart(schedule_.begin());
    ReadInOrder(epochs_[0], 0, stopped);
    int jumps = 0;
    for (Position i = 0; i < 100; ++i) jumps += OnAccess(epochs_[0][i]).kind == ReaderPosition::Kind::kJump ? 1 : 0;
    EXPECT_EQ(jumps, 1) << stopped;
    EXPECT_GE(reader_.front() + options_.support, 100U) << stopped;
    EXPECT_LE(reader_.front(), 100U) << stopped;
    EXPECT_FALSE(reader_.WasRead(100)) << "what was read before is read again";
    ReadInOrder(epochs_[0], 100, 6000);
    EXPECT_GE(reader_.front() + options_.support, 6000U) << stopped;
  }
}

TEST_F(ReaderPositionTest, AResumeInMidEpochIsFollowed) {
  Epochs(20'000, 1);
  ReadInOrder(epochs_[0], 0, 10);
  ReadInOrder(epochs_[0], 15'000, 15'100);
  EXPECT_GE(reader_.front() + options_.support, 15'100U);
  EXPECT_LE(reader_.front(), 15'100U);
  EXPECT_TRUE(reader_.WasRead(9000)) << "is left behind";
}

TEST_F(ReaderPositionTest, AnEpochThatEndsEarlyIsFollowedByTheNext) {
  Epochs(20'000, 2);
  ReadInOrder(epochs_[0], 0, 4000);
  ReadInOrder(epochs_[1], 0, 300);
  EXPECT_GE(reader_.front() + options_.support, 20'300U);
  EXPECT_LE(reader_.front(), 20'300U);
}

// A run ended in its second epoch of ten, and the next one has given its ten as well: the same, or others. Epochs that
// are no longer than the spread of the workers hold every file near every other.
TEST_F(ReaderPositionTest, ARunThatBeginsAnewIsFoundBehindWhatTheLastOneLeft) {
  for (const uint32_t files : {800U, 2500U, 20'000U}) {
    for (const bool same : {true, false}) {
      for (const size_t workers : {1U, 4U, 12U}) {
        SCOPED_TRACE(std::to_string(files) + (same ? ", the same, " : ", others, ") + std::to_string(workers));
        ReadSchedule schedule(Place);
        ReaderPosition progress(schedule, options_);
        std::vector<Order> runs;
        for (uint64_t epoch = 0; epoch < 20; ++epoch) {
          runs.push_back(Shuffled(files, same ? epoch % 10 : epoch));
          if (epoch < 10) schedule.Append(Shared(runs.back()));
        }
        const auto read = [&](const Order& order, size_t count) {
          const std::vector<Position> reads = AsWorkersRead(files, workers, files);
          for (size_t i = 0; i < count; ++i) {
            progress.OnAccess(schedule.SlotOf(order[reads[i]]));
            schedule.PopBefore(progress.base());
          }
        };
        read(runs[0], files);
        read(runs[1], files / 2);
        ASSERT_LT(progress.front(), size_t{2} * files);
        for (size_t epoch = 10; epoch < 20; ++epoch) schedule.Append(Shared(runs[epoch]));
        read(runs[10], 300);
        EXPECT_GE(progress.front(), size_t{10} * files + 200);
        EXPECT_LE(progress.front(), size_t{10} * files + 300 + 64 * workers);
        EXPECT_FALSE(progress.lost());
      }
    }
  }
}

TEST_F(ReaderPositionTest, WhatNobodyReadsIsLost) {
  for (const uint32_t files : {600U, 2500U, 50'000U}) {
    SCOPED_TRACE(files);
    ReadSchedule schedule(Place);
    ReaderPosition progress(schedule, options_);
    for (uint64_t epoch = 0; epoch < 5; ++epoch) schedule.Append(Shared(Shuffled(files, epoch)));
    bool lost = false;
    uint64_t reads = 0;
    for (uint64_t seed = 100; !lost && reads < 20'000; ++seed) {
      for (const EntryNumber file : Shuffled(files, seed)) {
        progress.OnAccess(schedule.SlotOf(file));
        lost = lost || progress.lost();
        if (++reads == 1000) {
          ASSERT_FALSE(lost) << "a look at some files is not a run";
        }
      }
    }
    EXPECT_TRUE(lost);
  }
}

TEST_F(ReaderPositionTest, WhatIsReadIsNotLost) {
  Epochs(50'000, 1);
  // Beside eight strangers; and by workers so many that no two of the last reads are neighbours.
  for (const bool strangers : {true, false}) {
    ReaderPosition progress(schedule_, options_);
    const std::vector<Position> reads = AsWorkersRead(50'000, strangers ? 1 : 15, 1);
    std::mt19937_64 random(5);
    for (size_t i = 0; i < 5000; ++i) {
      for (int other = 0; strangers && other < 8; ++other) {
        progress.OnAccess(schedule_.SlotOf(static_cast<EntryNumber>(random() % 50'000)));
        ASSERT_FALSE(progress.lost()) << i;
      }
      progress.OnAccess(schedule_.SlotOf(epochs_[0][reads[i]]));
      ASSERT_FALSE(progress.lost()) << i;
    }
  }
}

// Where one read in 64 is seen, the reads that are seen are neighbours of none.
TEST_F(ReaderPositionTest, WhatIsHardlySeenIsNotLost) {
  Epochs(50'000, 1);
  ReaderPosition progress(schedule_, {.unseen_max = 128, .support = 1});
  std::mt19937_64 random(6);
  for (Position i = 0; i < 50'000; i += 64) {
    for (int other = 0; other < 20; ++other) progress.OnAccess(static_cast<Slot>(random() % 50'000));
    progress.OnAccess(schedule_.SlotOf(epochs_[0][i]));
    ASSERT_FALSE(progress.lost()) << i;
  }
}

TEST_F(ReaderPositionTest, FourFilesSeenTwiceElsewhereAreNoJump) {
  Epochs(20'000, 1);
  ReadInOrder(epochs_[0], 0, 10);
  for (Position i = 15'000; i < 15'004; ++i) {
    EXPECT_EQ(OnAccess(epochs_[0][i]).kind, ReaderPosition::Kind::kForeign);
    EXPECT_EQ(OnAccess(epochs_[0][i]).kind, ReaderPosition::Kind::kForeign);
  }
  EXPECT_LE(reader_.front(), 10U);
}

TEST_F(ReaderPositionTest, SomeFilesAgainAreNoJump) {
  Epochs(5000, 1);
  ReadInOrder(epochs_[0], 0, 1000);
  for (Position i = 960; i < 1000; ++i) EXPECT_EQ(OnAccess(epochs_[0][i]).kind, ReaderPosition::Kind::kOld);
  EXPECT_GE(reader_.front() + options_.support, 1000U);
  EXPECT_LE(reader_.front(), 1000U);
}

// Pages of files that were opened long ago, by who maps his files. Where no opens are seen, that may be a restart.
TEST_F(ReaderPositionTest, PagesOfFormerFilesAreNoJumpWhereOpensAreSeen) {
  Epochs(5000, 1);
  for (const bool opens : {true, false}) {
    ReaderPosition progress(schedule_, {.opens = opens});
    for (Position i = 0; i < 3000; ++i) progress.OnAccess(schedule_.At(i));
    const auto read = [&](bool missed) {
      size_t jumps = 0;
      for (Position i = 1000; i < 1040; ++i) {
        jumps += progress.OnAccess(schedule_.At(i), missed).kind == ReaderPosition::Kind::kJump ? 1 : 0;
      }
      return jumps;
    };
    EXPECT_EQ(read(true), opens ? 0U : 1U);
    if (opens) {
      EXPECT_EQ(read(false), 1U);
    }
  }
}

}  // namespace
}  // namespace augur
