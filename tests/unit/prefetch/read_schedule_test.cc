// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>
#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

// Files lie one behind the other in the order of their numbers, 1,000 bytes each, 100 to a shard; each 10th is empty.
FilePlace Place(EntryNumber file) {
  return {.shard = file / 100,
          .offset = uint64_t{file} % 100 * 1000,
          .record_bytes = file % 10 == 0 ? 0U : 1000U,
          .bytes = file % 10 == 0 ? 0U : 1000U};
}

// What the schedule says of the coming reads, as files.
std::vector<EntryNumber> Files(const ReadSchedule& schedule) {
  std::vector<EntryNumber> files;
  for (Position at = schedule.begin(); at < schedule.end(); ++at) files.push_back(schedule.FileOf(schedule.At(at)));
  return files;
}

TEST(ReadScheduleTest, EmptyTrackHasNoPositions) {
  const ReadSchedule schedule(Place);
  EXPECT_EQ(schedule.begin(), schedule.end());
  EXPECT_EQ(schedule.epochs().size(), 0U);
  EXPECT_EQ(schedule.slot_count(), 0U);
  EXPECT_EQ(schedule.SlotOf(1), kNoSlot);
  EXPECT_GE(schedule.mean_bytes(), 1U) << "is divided by";
}

TEST(ReadScheduleTest, PositionsGoOnFromEpochToEpoch) {
  ReadSchedule schedule(Place);
  schedule.Append(Shared({5, 3, 4}));
  schedule.Append(Shared({4, 5}));
  EXPECT_EQ(schedule.epochs().size(), 2U);
  EXPECT_EQ(schedule.end(), 5U);
  EXPECT_THAT(Files(schedule), testing::ElementsAre(5, 3, 4, 4, 5));
  EXPECT_EQ(schedule.EpochOf(2).begin, 0U);
  EXPECT_EQ(schedule.EpochOf(2).end(), 3U);
  EXPECT_EQ(schedule.EpochOf(3).begin, 3U);
  EXPECT_EQ(schedule.EpochOf(3).end(), 5U);
}

TEST(ReadScheduleTest, FilesWithoutBytesHaveNoPosition) {
  ReadSchedule schedule(Place);
  schedule.Append(Shared({10, 11, 20, 12, 30}));
  EXPECT_THAT(Files(schedule), testing::ElementsAre(11, 12));
  schedule.Append(Shared({40, 50}));
  EXPECT_EQ(schedule.epochs().size(), 1U) << "an epoch of which nothing is left";
  EXPECT_EQ(schedule.end(), 2U);
}

TEST(ReadScheduleTest, FilesBesideOthersAreUsedAndNotRead) {
  ReadSchedule schedule(Place);
  // 10 and 20 have no bytes.
  schedule.Append(Shared({4, 10, 5, 20, 6, 7, 4, 5}), {true, true, false, false, true, false, false, true});
  schedule.Append(Shared({7}));
  EXPECT_THAT(Files(schedule), testing::ElementsAre(4, 5, 6, 7, 4, 5, 7));
  EXPECT_EQ(schedule.NextUse(schedule.SlotOf(4), 0), 0U);
  EXPECT_EQ(schedule.NextRead(schedule.SlotOf(4), 0), 4U);
  EXPECT_EQ(schedule.NextRead(schedule.SlotOf(6), 0), kNever);
  EXPECT_EQ(schedule.NextRead(schedule.SlotOf(7), 4), 6U);
  const std::vector<SharedOrder> rest = schedule.RestFrom(2);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_THAT(rest[0]->files(), testing::ElementsAre(7, 4)) << "as it was told";
  EXPECT_THAT(schedule.RestFrom(5), testing::SizeIs(1));
}

TEST(ReadScheduleTest, AnOrderIsSharedButForOneWithFilesWithoutBytes) {
  const SharedOrder first = Shared({5, 3, 4});
  const SharedOrder second = Shared({6, 10, 7});
  ReadSchedule schedule(Place);
  schedule.Append(first);
  schedule.Append(first);
  schedule.Append(second);
  EXPECT_THAT(schedule.RestFrom(0), testing::ElementsAre(first, first, testing::Ne(second)));
  const std::vector<SharedOrder> rest = schedule.RestFrom(4);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_THAT(rest[0]->files(), testing::ElementsAre(3, 4));
  EXPECT_THAT(rest[1]->files(), testing::ElementsAre(6, 7));
  EXPECT_THAT(schedule.RestFrom(6), testing::SizeIs(1));
  EXPECT_THAT(schedule.RestFrom(8), testing::IsEmpty());
}

TEST(ReadScheduleTest, AFileCanComeAgainInOneEpoch) {
  ReadSchedule schedule(Place);
  schedule.Append(Shared({7, 8, 7, 9, 7}));
  const Slot slot = schedule.SlotOf(7);
  EXPECT_EQ(schedule.NextUse(slot, 0), 0U);
  EXPECT_EQ(schedule.NextUse(slot, 1), 2U);
  EXPECT_EQ(schedule.NextUse(slot, 3), 4U);
  EXPECT_EQ(schedule.NextUse(slot, 5), kNever);
  EXPECT_EQ(schedule.slot_count(), 3U);
}

TEST(ReadScheduleTest, MetFilesHaveNoUse) {
  ReadSchedule schedule(Place);
  schedule.Meet({1, 2, 3});
  EXPECT_EQ(schedule.slot_count(), 3U);
  EXPECT_EQ(schedule.end(), 0U);
  EXPECT_EQ(schedule.NextUse(schedule.SlotOf(2), 0), kNever);
  schedule.Append(Shared({2}));
  EXPECT_EQ(schedule.slot_count(), 3U) << "is the same file";
  EXPECT_EQ(schedule.NextUse(schedule.SlotOf(2), 0), 0U);
}

TEST(ReadScheduleTest, PopBeforeForgetsWholeEpochsOnly) {
  ReadSchedule schedule(Place);
  schedule.Append(Shared({1, 2, 3}));
  schedule.Append(Shared({3, 2, 1}));
  schedule.PopBefore(2);
  EXPECT_EQ(schedule.begin(), 0U);
  schedule.PopBefore(3);
  EXPECT_EQ(schedule.begin(), 3U);
  EXPECT_EQ(schedule.NextUse(schedule.SlotOf(3), 0), 3U);
  schedule.PopBefore(6);
  EXPECT_EQ(schedule.begin(), 6U);
  EXPECT_EQ(schedule.end(), 6U);
  schedule.Append(Shared({2}));
  EXPECT_EQ(schedule.NextUse(schedule.SlotOf(2), 0), 6U) << "positions are never used twice";
}

TEST(ReadScheduleTest, ClearKeepsFilesAndPositions) {
  ReadSchedule schedule(Place);
  schedule.Append(Shared({1, 2, 3}));
  const Slot slot = schedule.SlotOf(2);
  schedule.Clear();
  EXPECT_EQ(schedule.begin(), 3U);
  EXPECT_EQ(schedule.end(), 3U);
  EXPECT_EQ(schedule.NextUse(slot, 0), kNever);
  EXPECT_EQ(schedule.SlotOf(2), slot);
  schedule.Append(Shared({2, 1}));
  EXPECT_EQ(schedule.NextUse(slot, 0), 3U);
}

TEST(ReadScheduleTest, AddressesAreByShardAndOffset) {
  ReadSchedule schedule(Place);
  schedule.Append(Shared({205, 17, 101}));
  schedule.Append(Shared({3, 199}));
  std::vector<EntryNumber> files;
  for (const Slot slot : schedule.by_address()) files.push_back(schedule.FileOf(slot));
  EXPECT_THAT(files, testing::ElementsAre(3, 17, 101, 199, 205));
  for (uint32_t rank = 0; rank < files.size(); ++rank) EXPECT_EQ(schedule.RankOf(schedule.by_address()[rank]), rank);
}

TEST(ReadScheduleTest, FilesOfTheSameBytesAreFilesOfTheirOwn) {
  ReadSchedule schedule(
      [](EntryNumber) { return FilePlace{.shard = 0, .offset = 4096, .record_bytes = 10, .bytes = 10}; });
  schedule.Append(Shared({1, 2, 1}));
  EXPECT_EQ(schedule.slot_count(), 2U);
  EXPECT_EQ(schedule.by_address().size(), 2U);
  EXPECT_EQ(schedule.NextUse(schedule.SlotOf(2), 0), 1U);
}

TEST(ReadScheduleTest, MeanIsOfFilesThatHaveBytes) {
  ReadSchedule schedule(Place);
  schedule.Append(Shared({1, 2, 3}));
  EXPECT_NEAR(static_cast<double>(schedule.mean_bytes()), 1000, 1);
  schedule.Append(Shared({10, 20, 30, 40, 50, 60}));
  EXPECT_NEAR(static_cast<double>(schedule.mean_bytes()), 1000, 1);
}

// The same by looking at every read.
Position NaiveNextUse(const std::vector<std::pair<Position, EntryNumber>>& reads, EntryNumber file, Position from) {
  for (const auto& [position, read] : reads) {
    if (read == file && position >= from) return position;
  }
  return kNever;
}

TEST(ReadScheduleTest, AgreesWithALookAtEveryRead) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto any = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
    ReadSchedule schedule(Place);
    std::vector<std::pair<Position, EntryNumber>> reads;  // those that the schedule still has
    std::vector<std::pair<Position, Position>> epochs;
    Position end = 0;
    for (int step = 0; step < 60; ++step) {
      if (any(3) == 0) {
        Order order(any(40));
        for (EntryNumber& file : order) file = any(50);
        schedule.Append(Shared(order));
        const Position begin = end;
        for (const EntryNumber file : order) {
          if (Place(file).bytes > 0) reads.emplace_back(end++, file);
        }
        if (end > begin) epochs.emplace_back(begin, end);
      } else if (any(6) == 0 && !epochs.empty()) {
        const Position until = epochs.front().first + any(60);
        schedule.PopBefore(until);
        while (!epochs.empty() && epochs.front().second <= until) epochs.erase(epochs.begin());
        const Position begin = epochs.empty() ? end : epochs.front().first;
        std::erase_if(reads, [&](const auto& read) { return read.first < begin; });
      }
      ASSERT_EQ(schedule.end(), end);
      ASSERT_EQ(schedule.begin(), epochs.empty() ? end : epochs.front().first);
      ASSERT_EQ(schedule.epochs().size(), epochs.size());
      for (const auto& [position, file] : reads) ASSERT_EQ(schedule.FileOf(schedule.At(position)), file);
      for (EntryNumber file = 0; file < 50; ++file) {
        const Slot slot = schedule.SlotOf(file);
        const Position from = any(static_cast<uint32_t>(end) + 2);
        const Position expected = NaiveNextUse(reads, file, from);
        if (slot == kNoSlot) {
          ASSERT_EQ(expected, kNever);
        } else {
          ASSERT_EQ(schedule.NextUse(slot, from), expected) << "file " << file << " from " << from;
        }
      }
    }
  }
}

TEST(TrackDeathTest, PositionsOutsideOfItAreOurBug) {
  ReadSchedule schedule(Place);
  schedule.Append(Shared({1, 2}));
  schedule.PopBefore(2);
  schedule.Append(Shared({1, 2}));
  EXPECT_DEATH(static_cast<void>(schedule.At(1)), "CHECK|check");
  EXPECT_DEATH(static_cast<void>(schedule.At(4)), "CHECK|check");
}

}  // namespace
}  // namespace augur
