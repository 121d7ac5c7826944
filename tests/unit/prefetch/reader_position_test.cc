// SPDX-License-Identifier: Apache-2.0
#include "prefetch/reader_position.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "unit/prefetch/reader_position_fixture.h"

namespace augur {
namespace {

TEST_F(ReaderPositionTest, ReadsInOrderMoveTheFrontThroughAllEpochs) {
  Epochs(3000, 2);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (Position i = 0; i < 3000; ++i) {
      const Position position = static_cast<Position>(epoch) * 3000 + i;
      const ReaderPosition::Match match = OnAccess(epochs_[epoch][i]);
      ASSERT_EQ(match.kind, ReaderPosition::Kind::kNew) << position;
      ASSERT_EQ(match.position, position);
      ASSERT_LE(reader_.front(), position + 1);
      ASSERT_GE(reader_.front() + options_.support, position + 1);
      ASSERT_TRUE(reader_.WasRead(position));
      ASSERT_FALSE(reader_.WasRead(position + 1));
      // What was read `lag` ago is done with.
      ASSERT_GE(reader_.tail() + options_.lag + options_.support, position + 1);
      if (position + 1 < schedule_.end()) {
        ASSERT_LE(reader_.tail() + options_.lag, std::max<Position>(reader_.front(), options_.lag));
      }
    }
  }
  EXPECT_EQ(reader_.front(), schedule_.end()) << "the last reads of all have nothing behind them that supports them";
}

// Opens are told in batches, some hundred files late where the reader finds its files in the page cache; the READ of a
// file that is not there is told at once. In a short epoch a file's next use is near: the open that comes late must not
// be taken for that.
TEST_F(ReaderPositionTest, AnOpenThatIsToldAfterItsReadIsTheSameRead) {
  constexpr size_t kFiles = 2000;
  options_.lag = 28;
  options_.opens = true;
  reader_.SetOptions(options_);
  Epochs(kFiles, 3);
  Order all;
  for (const Order& epoch : epochs_) all.insert(all.end(), epoch.begin(), epoch.end());
  std::mt19937_64 random(1);
  size_t told = 0;
  for (size_t at = 0; at < all.size(); ++at) {
    if (random() % 20 == 0) reader_.OnAccess(schedule_.SlotOf(all[at]), true);
    if (random() % 150 == 0 || at + 1 == all.size()) {
      for (; told <= at; ++told) {
        const ReaderPosition::Match match = OnAccess(all[told]);
        ASSERT_TRUE(match.kind == ReaderPosition::Kind::kNew || match.kind == ReaderPosition::Kind::kOld) << told;
        ASSERT_EQ(match.position, told);
      }
    }
    ASSERT_LE(reader_.front(), at + 1);
  }
  EXPECT_EQ(reader_.front(), schedule_.end());
}

// An order is known after some reads of its epoch, whose opens may be told after that. Each of them is in the epoch to
// come, which in a short one is near.
TEST_F(ReaderPositionTest, AnOpenOfAFileReadBeforeTheOrderWasKnownDoesNotMoveTheFront) {
  constexpr size_t kFiles = 600;
  for (const size_t before : {9U, 60U, 200U}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(std::to_string(before) + ", " + std::to_string(seed));
      ReadSchedule schedule(Place);
      ReaderPosition progress(schedule, {.opens = true});
      const Order first = Shuffled(kFiles, seed);
      schedule.Append(Shared(Order(first.begin() + static_cast<ptrdiff_t>(before), first.end())));
      for (uint64_t epoch = 1; epoch < 3; ++epoch) schedule.Append(Shared(Shuffled(kFiles, 100 * seed + epoch)));
      for (size_t i = 0; i < kFiles; ++i) {
        progress.OnAccess(schedule.SlotOf(first[i]));
        const size_t read = i + 1 - std::min(i + 1, before);
        ASSERT_LE(progress.front(), read) << i;
        if (i > before) {
          ASSERT_GE(progress.front() + 4, read) << i;
        }
      }
    }
  }
}

TEST_F(ReaderPositionTest, InterleavedWorkersAreOneReader) {
  constexpr size_t kWorkers = 4;
  constexpr size_t kSpread = 2 * kWorkers * 32;
  constexpr size_t kFiles = 9600;
  Epochs(kFiles, 1);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    ReaderPosition progress(schedule_, options_);
    std::vector<bool> read(kFiles, false);
    for (const Position at : AsWorkersRead(kFiles, kWorkers, seed)) {
      const ReaderPosition::Match match = progress.OnAccess(schedule_.At(at));
      ASSERT_EQ(match.kind, ReaderPosition::Kind::kNew) << at;
      ASSERT_EQ(match.position, at);
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

TEST_F(ReaderPositionTest, ReadsThatAreNotSeenArePassed) {
  Epochs(20'000, 1);
  const Order& order = epochs_[0];
  const ReaderPositionOptions options = {.unseen_max = 128, .support = 1};  // as with sentinels: one in 64 is seen
  ReaderPosition progress(schedule_, options);
  for (Position i = 63; i < order.size(); i += 64) {
    ASSERT_EQ(progress.OnAccess(schedule_.SlotOf(order[i])).kind, ReaderPosition::Kind::kNew);
    ASSERT_EQ(progress.front(), i + 1);
    if (i > 1000) {
      ASSERT_GE(progress.tail() + options.unseen_max, i + 1);
    }
  }
}

// In an archive some of the reads that are seen are the kernel's, who reads ahead what may come at any time.
TEST_F(ReaderPositionTest, ReadsOfTheKernelDoNotMoveTheFrontOfAnArchive) {
  Epochs(600, 1);
  const ReaderPositionOptions options = ReaderPositionOptions::OfArchives(64);
  ReaderPosition progress(schedule_, options);
  std::mt19937_64 random(1);
  for (Position i = 0; i < 600; ++i) {
    if (i % 8 == 7) progress.OnAccess(schedule_.SlotOf(epochs_[0][i + random() % (600 - i)]), true);
    progress.OnAccess(schedule_.SlotOf(epochs_[0][i]), true);
    ASSERT_LE(progress.front(), i + options.unseen_max);
    ASSERT_LE(progress.tail(), i + 1) << "nothing is let go before its turn";
    if (i + 64 < 600) {
      ASSERT_GE(progress.front() + 2 * options.support, i) << i;
    }
  }
}

TEST_F(ReaderPositionTest, AFileThatWasNeverOpenedDoesNotHoldTheTailForEver) {
  Epochs(10'000, 1);
  for (Position i = 0; i < 10'000; ++i) {
    if (i % 100 != 50) OnAccess(epochs_[0][i]);
  }
  EXPECT_GE(reader_.tail() + options_.unseen_max + 1, reader_.front());
}

TEST_F(ReaderPositionTest, TheReaderIsDoneWithEachFileOnceAndSoon) {
  Epochs(5000, 2);
  std::vector<int> passed(10'000, 0);
  for (Position i = 0; i < 10'000; ++i) {
    if (i % 500 != 77) OnAccess(epochs_[i / 5000][i % 5000]);
    for (const Position position : reader_.TakePassed()) ++passed[position];
    if (i < 200 || (i - 200) % 500 == 77) continue;
    // A file that was not seen holds up no other. (One that comes again within the lag is taken for the same read.)
    const Position before = i - 200;
    const EntryNumber file = schedule_.FileOf(schedule_.At(std::max(before, schedule_.begin())));
    const size_t last = epochs_[0].size() - size_t{2} * options_.lag;
    const bool again = before >= 5000 && std::find(epochs_[0].begin() + static_cast<ptrdiff_t>(last), epochs_[0].end(),
                                                   file) != epochs_[0].end();
    if (!again) {
      ASSERT_EQ(passed[before], 1) << before;
    }
  }
  for (Position i = 0; i < 8900; ++i) EXPECT_EQ(passed[i], 1) << i;
}

// Of a worker that is behind the others, too.
TEST_F(ReaderPositionTest, AFileIsBeingReadFromItsReadToItsPassing) {
  constexpr size_t kFiles = 4000;
  Epochs(kFiles, 1);
  std::vector<bool> being_read(kFiles, false);
  for (const Position at : AsWorkersRead(kFiles, 4, 1)) {
    OnAccess(epochs_[0][at]);
    being_read[at] = true;
    for (const Position position : reader_.TakePassed()) being_read[position] = false;
    if (at % 10 != 0) continue;
    for (Position i = 0; i < kFiles; ++i) ASSERT_EQ(reader_.IsBeingRead(schedule_.At(i)), being_read[i]) << i;
  }
}

TEST_F(ReaderPositionTest, AnOpenAndItsReadAreOneRead) {
  Epochs(1000, 2);
  for (Position i = 0; i < 500; ++i) {
    ASSERT_EQ(OnAccess(epochs_[0][i]).kind, ReaderPosition::Kind::kNew);
    ASSERT_EQ(OnAccess(epochs_[0][i]).kind, ReaderPosition::Kind::kOld);
    ASSERT_LE(reader_.front(), i + 1);
  }
  for (Position i = 0; i < 1000; ++i) ASSERT_FALSE(reader_.WasRead(1000 + i)) << "of the second epoch";
}

TEST_F(ReaderPositionTest, AFileTwiceInAnEpochIsReadTwice) {
  Order order = Shuffled(1000, 1);
  order.insert(order.begin() + 600, order[100]);
  schedule_.Append(Shared(order));
  for (Position i = 0; i < order.size(); ++i) {
    const ReaderPosition::Match match = OnAccess(order[i]);
    ASSERT_EQ(match.kind, ReaderPosition::Kind::kNew) << i;
    ASSERT_EQ(match.position, i);
  }
}

TEST_F(ReaderPositionTest, TheSameFileInTheNextEpochAtOnceIsARead) {
  Epochs(300, 1);
  schedule_.Append(Shared(epochs_[0]));
  ReadInOrder(epochs_[0], 0, 300);
  for (Position i = 0; i < 300; ++i) {
    const ReaderPosition::Match match = OnAccess(epochs_[0][i]);
    ASSERT_EQ(match.kind, ReaderPosition::Kind::kNew);
    ASSERT_EQ(match.position, 300 + i);
  }
}

// As a validation pass is.
TEST_F(ReaderPositionTest, EpochsThatAreAllTheSameAreReadOneAfterTheOther) {
  for (int epoch = 0; epoch < 4; ++epoch) schedule_.Append(Shared(Shuffled(3000, 1)));
  for (Position i = 0; i < 12'000; ++i) {
    ASSERT_NE(OnAccess(schedule_.FileOf(schedule_.At(i))).kind, ReaderPosition::Kind::kJump) << i;
    ASSERT_LE(reader_.front(), i + 1);
    schedule_.PopBefore(reader_.base());
  }
  EXPECT_EQ(reader_.front(), schedule_.end());
}

// Of three epochs with files of their own the first is forgotten, and the third is read.
TEST_F(ReaderPositionTest, AFileOfAnEpochThatIsOverIsInNoneThatComes) {
  constexpr EntryNumber kFiles = 600;
  for (EntryNumber epoch = 0; epoch < 3; ++epoch) {
    Order order;
    for (const EntryNumber file : Shuffled(kFiles, epoch)) order.push_back(epoch * kFiles + file);
    schedule_.Append(Shared(order));
  }
  for (Position i = 0; i < 2 * kFiles + 300; ++i) OnAccess(schedule_.FileOf(schedule_.At(i)));
  schedule_.PopBefore(kFiles);
  EXPECT_EQ(OnAccess(kFiles + 5).kind, ReaderPosition::Kind::kForeign);
  EXPECT_LE(reader_.front(), 2 * kFiles + 300);
}

TEST_F(ReaderPositionTest, AnEmptyTrackHasNoFront) {
  schedule_.Meet({1, 2, 3});
  EXPECT_EQ(OnAccess(1).kind, ReaderPosition::Kind::kForeign);
  EXPECT_EQ(reader_.front(), 0U);
  EXPECT_FALSE(reader_.WasRead(0));
}

TEST_F(ReaderPositionTest, ShortEpochsAreReadToTheirEnd) {
  for (const uint32_t files : {1U, 2U, 3U, 5U, 70U}) {
    ReadSchedule schedule(Place);
    ReaderPosition progress(schedule, options_);
    const Order order = Shuffled(files, files);
    schedule.Append(Shared(order));
    for (const EntryNumber file : order) progress.OnAccess(schedule.SlotOf(file));
    EXPECT_EQ(progress.front(), files);
  }
}

// A file is read where it stands for itself, and done with are then also those that were needed for it.
TEST_F(ReaderPositionTest, FilesBesideOthers) {
  options_.lag = 2;
  options_.support = 1;
  reader_.SetOptions(options_);
  constexpr uint32_t kFiles = 300;
  const Order own = Shuffled(kFiles, 3);
  Order files;
  std::vector<bool> beside;
  for (const EntryNumber file : own) {
    for (const EntryNumber one : {(file + 1) % kFiles, (file + kFiles - 1) % kFiles, file}) {
      files.push_back(one);
      beside.push_back(one != file);
    }
  }
  schedule_.Append(Shared(files), beside);
  std::vector<Position> passed;
  for (size_t i = 0; i < kFiles; ++i) {
    const ReaderPosition::Match match = reader_.OnAccess(schedule_.SlotOf(own[i]), true);
    EXPECT_EQ(match.kind, ReaderPosition::Kind::kNew);
    ASSERT_EQ(match.position, 3 * i + 2);
    EXPECT_EQ(reader_.front(), 3 * i + 3);
    // The same once more, as when a sample is read in two pieces.
    EXPECT_EQ(reader_.OnAccess(schedule_.SlotOf(own[i]), true).kind, ReaderPosition::Kind::kOld);
    for (const Position one : reader_.TakePassed()) passed.push_back(one);
    EXPECT_LE(reader_.front() - passed.size(), 6U);
  }
}

}  // namespace
}  // namespace augur
