// SPDX-License-Identifier: Apache-2.0
// Which files one read has: neighbours on the disk, or those of a region.
#include "prefetch/adjacent_files.h"

#include <gtest/gtest.h>

#include "planner_parts.h"
#include "prefetch/fill_cursor.h"
#include "prefetch/region_visits.h"

namespace augur {
namespace {

constexpr uint64_t kFile = PlannerParts::kFileBytes;
constexpr uint64_t kMiB = 1 << 20;

class AdjacentFilesTest : public testing::Test {
 protected:
  std::vector<Slot> Adjacent(Slot slot, uint64_t bytes_max, Position soon = 0, uint64_t soon_bytes_max = 0) const {
    return AdjacentFiles(parts_.in, admission_, slot,
                         {.bytes_max = bytes_max, .room = 100 * kMiB, .soon = soon, .soon_bytes_max = soon_bytes_max});
  }

  PlannerParts parts_{100,
                      {.retained_bytes_max = 200 * kFile,
                       .staging_bytes_max = 100 * kMiB,
                       .push_window_bytes_max = 400 * kFile,
                       .sentinel_every = 0}};
  ReaderPages reader_pages_{parts_.in, parts_.states};
  PageCacheWindow window_{parts_.in, parts_.states, reader_pages_};
  RetentionPlanner retention_{parts_.in, parts_.states, window_};
  ReadAdmission admission_{parts_.in, parts_.states, window_, retention_};
};

TEST_F(AdjacentFilesTest, TakesNeighboursUpToTheLengthOfARead) {
  EXPECT_EQ(Adjacent(10, kFile), std::vector<Slot>{10});
  EXPECT_EQ(Adjacent(10, 3 * kFile), (std::vector<Slot>{10, 11, 12}));
  EXPECT_EQ(Adjacent(98, 4 * kFile), (std::vector<Slot>{98, 99, 97, 96})) << "backwards at the end of the disk";
}

TEST_F(AdjacentFilesTest, ReadsNoGapThatCostsMoreThanARead) {
  parts_.Hold(12);
  EXPECT_LT(parts_.disk.worth_gap_bytes(), kFile) << "of a disk that is not known";
  EXPECT_EQ(Adjacent(10, 4 * kFile), (std::vector<Slot>{10, 11, 9, 8}));
}

// Files that are to be read now in any case are read together; none of the others makes such a read longer.
TEST_F(AdjacentFilesTest, FilesThatAreUsedSoonMakeAReadLonger) {
  EXPECT_EQ(Adjacent(10, kFile, 13, 8 * kFile), (std::vector<Slot>{10, 11, 12, 9, 8, 7, 6, 5}));
  EXPECT_EQ(Adjacent(10, kFile, 13, 2 * kFile), (std::vector<Slot>{10, 11}));
  EXPECT_EQ(Adjacent(10, 2 * kFile, 9, 8 * kFile), (std::vector<Slot>{10, 11}));
  parts_.Hold(11);
  EXPECT_EQ(Adjacent(10, kFile, 13, 3 * kFile), (std::vector<Slot>{10, 9, 8})) << "past the one that is there, no more";
}

// Once the reader needs it soon enough, a region is read from its first missing file to its last.
TEST_F(AdjacentFilesTest, AVisitTakesTheFilesOfARegion) {
  RegionVisits visits(parts_.in, parts_.states, admission_);
  EXPECT_EQ(visits.Lead(), PlannerInput::kUrgentFiles) << "an eighth of 200 files is less";
  parts_.Hold(4);
  const std::vector<Slot> files = visits.Visit(3, 3, 100 * kMiB);
  const std::span<const Slot> region = parts_.in.regions.Around(3);
  EXPECT_EQ(files.size(), region.size() - 1) << "but for the one that is there";
  for (const Slot file : files) EXPECT_TRUE(parts_.in.regions.Same(file, 3));
  for (const Slot file : region) EXPECT_TRUE(parts_.states.deadlines().Covers(file, file));
  EXPECT_EQ(visits.Visit(3, 3, 2 * kFile).size(), 2U) << "as many as there is room for";
  EXPECT_TRUE(visits.Visit(3, 3, kFile / 2).empty());
}

TEST_F(AdjacentFilesTest, AFillGoesRoundOnceAndRests) {
  FillCursor cursor(parts_.in, parts_.states, window_, retention_, admission_);
  parts_.in.schedule.Clear();
  parts_.in.reader.Restart(parts_.in.schedule.end());
  EXPECT_EQ(cursor.Next(), kNoSlot);
  EXPECT_FALSE(cursor.searches());
  parts_.in.fill = true;
  EXPECT_EQ(cursor.Next(), kNoSlot) << "it rests";
  cursor.LookAgain();
  EXPECT_EQ(cursor.Next(), 0U);
  cursor.MoveBehind(41);
  EXPECT_EQ(cursor.Next(), 42U);
  EXPECT_EQ(cursor.Next(), 42U) << "until it is read";
}

}  // namespace
}  // namespace augur
