// SPDX-License-Identifier: Apache-2.0
#include "prefetch/reader_speed.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(ReaderSpeedTest, IsNotKnownBeforeATenthOfASecond) {
  ReaderSpeed speed;
  EXPECT_FALSE(speed.known());
  speed.Measure(0, 1'000'000);
  speed.Measure(99, 1'099'999);
  EXPECT_FALSE(speed.known());
  EXPECT_EQ(speed.FilesIn(10), 0U);
  speed.Measure(100, 1'100'000);
  EXPECT_TRUE(speed.known());
  EXPECT_EQ(speed.FilesIn(0.25), 250U);
}

TEST(ReaderSpeedTest, IsTheMeanOfTheLastMeasurementAndOfThoseBefore) {
  ReaderSpeed speed;
  speed.Measure(0, 1'000'000);
  speed.Measure(1000, 2'000'000);
  speed.Measure(4000, 3'000'000);
  EXPECT_EQ(speed.FilesIn(1), 2000U);
}

TEST(ReaderSpeedTest, AJumpBackAndARestartBeginAnotherMeasurement) {
  ReaderSpeed speed;
  speed.Measure(0, 1'000'000);
  speed.Measure(1000, 2'000'000);
  speed.Measure(10, 9'000'000);
  EXPECT_EQ(speed.FilesIn(1), 1000U) << "the time before the jump does not count";
  speed.Restart();
  speed.Measure(2000, 20'000'000);
  EXPECT_EQ(speed.FilesIn(1), 1000U);
  speed.Measure(3000, 21'000'000);
  EXPECT_EQ(speed.FilesIn(1), 1000U);
}

}  // namespace
}  // namespace augur
