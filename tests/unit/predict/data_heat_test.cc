// SPDX-License-Identifier: Apache-2.0
#include "predict/data_heat.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

constexpr uint64_t kMs = 1000;

// A reader who opens a file a millisecond, of which a part is fetched; looked at every 10 ms.
class Reader {
 public:
  using Turn = DataHeat::Turn;

  // The first turn within so many milliseconds; kNone: there was none.
  Turn Read(uint64_t milliseconds, double fetched_part, uint64_t files_each = 10) {
    for (uint64_t i = 0; i < milliseconds; i += 10) {
      now_us_ += 10 * kMs;
      counters_.opened += files_each;
      counters_.fetched += fetched_part * static_cast<double>(files_each);
      if (const Turn turn = heat_.Look(now_us_, counters_); turn != Turn::kNone) return turn;
    }
    return Turn::kNone;
  }
  DataHeat& heat() { return heat_; }
  uint64_t now_ms() const { return now_us_ / kMs; }

 private:
  DataHeat heat_;
  uint64_t now_us_ = 0;
  DataHeat::Counters counters_;
};
using Turn = DataHeat::Turn;

TEST(DataHeat, FilesFromMemoryAreHotWithinASecond) {
  Reader reader;
  EXPECT_EQ(reader.Read(1000, 1), Turn::kNone) << "all files from the disk";
  EXPECT_EQ(reader.Read(1000, 0), Turn::kHot);
  EXPECT_TRUE(reader.heat().hot());
  EXPECT_LE(reader.now_ms(), 1000 + 600U);
}

TEST(DataHeat, ColdFilesAreNeverHot) {
  for (const double part : {1.0, 0.5, 0.05}) {
    Reader reader;
    for (int i = 0; i < 500; ++i) {
      EXPECT_EQ(reader.Read(10, part), Turn::kNone) << part;
    }
  }
}

// One in a hundred from the disk: a reader has little to gain. One in twenty is more.
TEST(DataHeat, AFewFilesFromTheDiskMakeNoDifference) {
  Reader few;
  EXPECT_EQ(few.Read(2000, 0.01), Turn::kHot);
  Reader more;
  EXPECT_EQ(more.Read(60'000, 0.05), Turn::kNone);
}

// A slow script: the half second is not enough to tell.
TEST(DataHeat, ASlowReaderIsWaitedFor) {
  Reader reader;
  uint64_t files = 0;
  for (; !reader.heat().hot() && files < 1000; ++files) {
    (void)reader.Read(10, 0, 1);
    (void)reader.Read(90, 0, 0);
  }
  EXPECT_GE(files, DataHeat::kFilesToBeHot);
  EXPECT_LE(files, DataHeat::kFilesToBeHot + 2);
}

// Nothing is read, nothing is known.
TEST(DataHeat, NoReaderIsNotHot) {
  Reader reader;
  EXPECT_EQ(reader.Read(60'000, 0, 0), Turn::kNone);
  EXPECT_FALSE(reader.heat().hot());
}

// Opens are not seen while data is hot: the fetched files alone say that it is cold again.
TEST(DataHeat, HotFilesTurnCold) {
  Reader reader;
  ASSERT_EQ(reader.Read(2000, 0), Turn::kHot);
  EXPECT_EQ(reader.Read(100'000, 0), Turn::kNone);
  const uint64_t before = reader.now_ms();
  EXPECT_EQ(reader.Read(1000, 1, 1), Turn::kCold) << "100 files a second";
  EXPECT_FALSE(reader.heat().hot());
  EXPECT_LE(reader.now_ms() - before, 200U);
}

// The kernel takes a page now and then.
TEST(DataHeat, ATrickleDoesNotMakeItCold) {
  Reader reader;
  ASSERT_EQ(reader.Read(2000, 0), Turn::kHot);
  EXPECT_EQ(reader.Read(600'000, 0.015, 1), Turn::kNone) << "1.5 files a second";
}

// Data that is cold now and then is not asked about anew every second.
TEST(DataHeat, FilesOfBothKindsTakeLongerEachTime) {
  Reader reader;
  uint64_t took_before = 0;
  for (int i = 0; i < 8; ++i) {
    const uint64_t before = reader.now_ms();
    ASSERT_EQ(reader.Read(100'000, 0), Turn::kHot);
    const uint64_t took = reader.now_ms() - before;
    EXPECT_GE(took, took_before);
    EXPECT_LE(took, 33'000U);
    if (i == 7) {
      EXPECT_GE(took, 30'000U);
    }
    took_before = took;
    ASSERT_EQ(reader.Read(1000, 1), Turn::kCold);
  }
  // Hot for long: as at first.
  ASSERT_EQ(reader.Read(100'000, 0), Turn::kHot);
  EXPECT_EQ(reader.Read(61'000, 0), Turn::kNone);
  ASSERT_EQ(reader.Read(1000, 1), Turn::kCold);
  const uint64_t before = reader.now_ms();
  ASSERT_EQ(reader.Read(100'000, 0), Turn::kHot);
  EXPECT_LE(reader.now_ms() - before, 600U);
}

}  // namespace
}  // namespace augur
