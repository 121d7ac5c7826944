// SPDX-License-Identifier: Apache-2.0
#include "http/backoff.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(Backoff, DoublesItsLongestDelayUpToTheCap) {
  const Backoff backoff;
  std::chrono::milliseconds sum{0};
  const int longest[] = {100, 200, 400, 800, 1600, 3200, 6400, 12800, 20000};
  for (int failures = 1; failures <= 9; ++failures) {
    EXPECT_EQ(backoff.Delay(failures, 1).count(), longest[failures - 1]);
    sum += backoff.Delay(failures, 0.5);
  }
  EXPECT_EQ(sum.count(), 22'750);  // half of the sum of the above: ten attempts on average
  EXPECT_EQ(backoff.Delay(1000, 1), backoff.cap);
}

TEST(Backoff, JitterIsFull) {
  EXPECT_EQ(Backoff().Delay(5, 0).count(), 0);
  EXPECT_EQ(Backoff().Delay(5, 0.25).count(), 400);
}

}  // namespace
}  // namespace augur
