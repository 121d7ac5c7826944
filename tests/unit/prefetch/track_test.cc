// SPDX-License-Identifier: Apache-2.0
#include "prefetch/track.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace augur {
namespace {

// Files lie one behind the other in the order of their numbers, 1,000 bytes each, 100 to a shard; each 10th is empty.
FilePlace Place(EntryNumber file) {
  return {.shard = file / 100,
          .offset = uint64_t{file} % 100 * 1000,
          .record_bytes = file % 10 == 0 ? 0U : 1000U,
          .bytes = file % 10 == 0 ? 0U : 1000U};
}

// What the track says of the coming reads, as files.
std::vector<EntryNumber> Files(const Track& track) {
  std::vector<EntryNumber> files;
  for (Position at = track.begin(); at < track.end(); ++at) files.push_back(track.FileOf(track.At(at)));
  return files;
}

TEST(TrackTest, EmptyTrackHasNoPositions) {
  const Track track(Place);
  EXPECT_EQ(track.begin(), track.end());
  EXPECT_EQ(track.epoch_count(), 0U);
  EXPECT_EQ(track.slot_count(), 0U);
  EXPECT_EQ(track.SlotOf(1), kNoSlot);
  EXPECT_GE(track.mean_bytes(), 1U) << "is divided by";
}

TEST(TrackTest, PositionsGoOnFromEpochToEpoch) {
  Track track(Place);
  track.Append({5, 3, 4});
  track.Append({4, 5});
  EXPECT_EQ(track.epoch_count(), 2U);
  EXPECT_EQ(track.end(), 5U);
  EXPECT_THAT(Files(track), testing::ElementsAre(5, 3, 4, 4, 5));
  EXPECT_EQ(track.EpochAround(0), std::pair(Position{0}, Position{3}));
  EXPECT_EQ(track.EpochAround(2), std::pair(Position{0}, Position{3}));
  EXPECT_EQ(track.EpochAround(3), std::pair(Position{3}, Position{5}));
}

TEST(TrackTest, FilesWithoutBytesHaveNoPosition) {
  Track track(Place);
  track.Append({10, 11, 20, 12, 30});
  EXPECT_THAT(Files(track), testing::ElementsAre(11, 12));
  track.Append({40, 50});
  EXPECT_EQ(track.epoch_count(), 1U) << "an epoch of which nothing is left";
  EXPECT_EQ(track.end(), 2U);
}

TEST(TrackTest, AFileCanComeAgainInOneEpoch) {
  Track track(Place);
  track.Append({7, 8, 7, 9, 7});
  const Slot slot = track.SlotOf(7);
  EXPECT_EQ(track.NextUse(slot, 0), 0U);
  EXPECT_EQ(track.NextUse(slot, 1), 2U);
  EXPECT_EQ(track.NextUse(slot, 3), 4U);
  EXPECT_EQ(track.NextUse(slot, 5), kNever);
  EXPECT_EQ(track.slot_count(), 3U);
}

TEST(TrackTest, MetFilesHaveNoUse) {
  Track track(Place);
  track.Meet({1, 2, 3});
  EXPECT_EQ(track.slot_count(), 3U);
  EXPECT_EQ(track.end(), 0U);
  EXPECT_EQ(track.NextUse(track.SlotOf(2), 0), kNever);
  track.Append({2});
  EXPECT_EQ(track.slot_count(), 3U) << "is the same file";
  EXPECT_EQ(track.NextUse(track.SlotOf(2), 0), 0U);
}

TEST(TrackTest, PopBeforeForgetsWholeEpochsOnly) {
  Track track(Place);
  track.Append({1, 2, 3});
  track.Append({3, 2, 1});
  track.PopBefore(2);
  EXPECT_EQ(track.begin(), 0U);
  track.PopBefore(3);
  EXPECT_EQ(track.begin(), 3U);
  EXPECT_EQ(track.NextUse(track.SlotOf(3), 0), 3U);
  track.PopBefore(6);
  EXPECT_EQ(track.begin(), 6U);
  EXPECT_EQ(track.end(), 6U);
  track.Append({2});
  EXPECT_EQ(track.NextUse(track.SlotOf(2), 0), 6U) << "positions are never used twice";
}

TEST(TrackTest, ClearKeepsFilesAndPositions) {
  Track track(Place);
  track.Append({1, 2, 3});
  const Slot slot = track.SlotOf(2);
  track.Clear();
  EXPECT_EQ(track.begin(), 3U);
  EXPECT_EQ(track.end(), 3U);
  EXPECT_EQ(track.NextUse(slot, 0), kNever);
  EXPECT_EQ(track.SlotOf(2), slot);
  track.Append({2, 1});
  EXPECT_EQ(track.NextUse(slot, 0), 3U);
}

TEST(TrackTest, AddressesAreByShardAndOffset) {
  Track track(Place);
  track.Append({205, 17, 101});
  track.Append({3, 199});
  std::vector<EntryNumber> files;
  for (const Slot slot : track.by_address()) files.push_back(track.FileOf(slot));
  EXPECT_THAT(files, testing::ElementsAre(3, 17, 101, 199, 205));
  for (uint32_t rank = 0; rank < files.size(); ++rank) EXPECT_EQ(track.RankOf(track.by_address()[rank]), rank);
}

TEST(TrackTest, FilesOfTheSameBytesAreFilesOfTheirOwn) {
  Track track([](EntryNumber) { return FilePlace{.shard = 0, .offset = 4096, .record_bytes = 10, .bytes = 10}; });
  track.Append({1, 2, 1});
  EXPECT_EQ(track.slot_count(), 2U);
  EXPECT_EQ(track.by_address().size(), 2U);
  EXPECT_EQ(track.NextUse(track.SlotOf(2), 0), 1U);
}

TEST(TrackTest, MeanIsOfFilesThatHaveBytes) {
  Track track(Place);
  track.Append({1, 2, 3});
  EXPECT_NEAR(static_cast<double>(track.mean_bytes()), 1000, 1);
  track.Append({10, 20, 30, 40, 50, 60});
  EXPECT_NEAR(static_cast<double>(track.mean_bytes()), 1000, 1);
}

// The same by looking at every read.
Position NaiveNextUse(const std::vector<std::pair<Position, EntryNumber>>& reads, EntryNumber file, Position from) {
  for (const auto& [position, read] : reads) {
    if (read == file && position >= from) return position;
  }
  return kNever;
}

TEST(TrackTest, AgreesWithALookAtEveryRead) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto any = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
    Track track(Place);
    std::vector<std::pair<Position, EntryNumber>> reads;  // those that the track still has
    std::vector<std::pair<Position, Position>> epochs;
    Position end = 0;
    for (int step = 0; step < 60; ++step) {
      if (any(3) == 0) {
        Order order(any(40));
        for (EntryNumber& file : order) file = any(50);
        track.Append(order);
        const Position begin = end;
        for (const EntryNumber file : order) {
          if (Place(file).bytes > 0) reads.emplace_back(end++, file);
        }
        if (end > begin) epochs.emplace_back(begin, end);
      } else if (any(6) == 0 && !epochs.empty()) {
        const Position until = epochs.front().first + any(60);
        track.PopBefore(until);
        while (!epochs.empty() && epochs.front().second <= until) epochs.erase(epochs.begin());
        const Position begin = epochs.empty() ? end : epochs.front().first;
        std::erase_if(reads, [&](const auto& read) { return read.first < begin; });
      }
      ASSERT_EQ(track.end(), end);
      ASSERT_EQ(track.begin(), epochs.empty() ? end : epochs.front().first);
      ASSERT_EQ(track.epoch_count(), epochs.size());
      for (const auto& [position, file] : reads) ASSERT_EQ(track.FileOf(track.At(position)), file);
      for (EntryNumber file = 0; file < 50; ++file) {
        const Slot slot = track.SlotOf(file);
        const Position from = any(static_cast<uint32_t>(end) + 2);
        const Position expected = NaiveNextUse(reads, file, from);
        if (slot == kNoSlot) {
          ASSERT_EQ(expected, kNever);
        } else {
          ASSERT_EQ(track.NextUse(slot, from), expected) << "file " << file << " from " << from;
        }
      }
    }
  }
}

TEST(TrackDeathTest, PositionsOutsideOfItAreOurBug) {
  Track track(Place);
  track.Append({1, 2});
  track.PopBefore(2);
  track.Append({1, 2});
  EXPECT_DEATH(static_cast<void>(track.At(1)), "CHECK|check");
  EXPECT_DEATH(static_cast<void>(track.At(4)), "CHECK|check");
}

}  // namespace
}  // namespace augur
