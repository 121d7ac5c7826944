// SPDX-License-Identifier: Apache-2.0
#include "http/concurrency_limit.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace augur {
namespace {

// A link on which one request at a time brings `each` bytes in an interval, and all together at most `link`.
double Bytes(int in_flight, double each, double link) { return std::min(in_flight * each, link); }

TEST(ConcurrencyLimit, GrowsFastWhileTheRateGrows) {
  // 110 KB in 47 ms on a link of 200 MB/s: 85 in flight fill it.
  ConcurrencyLimit limit(4, 16, 256);
  for (int i = 0; i < 10; ++i) limit.OnInterval(true, Bytes(limit.value(), 1.17e6, 1e8));
  EXPECT_GE(limit.value(), 85);
  for (int i = 0; i < 100; ++i) limit.OnInterval(true, Bytes(limit.value(), 1.17e6, 1e8));
  EXPECT_GE(limit.value(), 81);
  EXPECT_LE(limit.value(), 128);  // what a step of a half overshoots at most
}

// The rate of connections that have just begun grows by itself.
TEST(ConcurrencyLimit, WaitsUntilTheRateHasSettled) {
  ConcurrencyLimit limit(4, 16, 64);
  for (const double bytes : {1e6, 5e6, 2e7, 6e7, 1e8}) {
    limit.OnInterval(true, bytes);
    EXPECT_EQ(limit.value(), 16);
  }
  limit.OnInterval(true, 1e8);
  EXPECT_EQ(limit.value(), 24);
  for (int i = 0; i < 2; ++i) limit.OnInterval(true, 1e8);
  EXPECT_EQ(limit.value(), 16);  // it did not pay
}

TEST(ConcurrencyLimit, StaysWhereFewRequestsFillTheLink) {
  ConcurrencyLimit limit(4, 16, 64);
  for (int i = 0; i < 200; ++i) {
    limit.OnInterval(true, Bytes(limit.value(), 25e6, 1e8));
    EXPECT_LE(limit.value(), 24);
  }
}

TEST(ConcurrencyLimit, KeepsItsBounds) {
  ConcurrencyLimit limit(4, 16, 20);
  for (int i = 0; i < 100; ++i) limit.OnInterval(true, limit.value());
  EXPECT_EQ(limit.value(), 20);
  for (int i = 0; i < 20; ++i) {
    limit.OnThrottled();
    for (int k = 0; k < 2; ++k) limit.OnInterval(false, 1);
  }
  EXPECT_EQ(limit.value(), 4);
}

TEST(ConcurrencyLimit, HalvesOnceForABurstAndGrowsByOneASecond) {
  ConcurrencyLimit limit(4, 64, 64);
  for (int i = 0; i < 30; ++i) limit.OnThrottled();
  EXPECT_EQ(limit.value(), 32);
  int before = limit.value();
  for (int seconds = 0; seconds < 30; ++seconds) {
    for (int i = 0; i < 2; ++i) limit.OnInterval(true, limit.value());
    EXPECT_LE(limit.value(), before + 1);
    before = limit.value();
  }
  EXPECT_GE(limit.value(), 54);  // but for the second after the 503 and those in which it judges
  limit.OnThrottled();
  EXPECT_EQ(limit.value(), before / 2);
}

TEST(ConcurrencyLimit, TakesBackAGrowthThatDidNotPay) {
  ConcurrencyLimit limit(4, 32, 64);
  limit.OnThrottled();
  int highest = 0;
  int back = 0;
  for (int i = 0; i < 100; ++i) {
    limit.OnInterval(true, 1e8);
    highest = std::max(highest, limit.value());
    back += limit.value() == 16 ? 1 : 0;
  }
  EXPECT_EQ(highest, 20);  // a quarter more
  EXPECT_GE(back, 60);     // it holds for ten seconds between attempts of four
}

TEST(ConcurrencyLimit, LearnsNothingWhereItHeldNothingBack) {
  ConcurrencyLimit limit(4, 16, 64);
  for (int i = 0; i < 100; ++i) limit.OnInterval(false, 1e8);
  EXPECT_EQ(limit.value(), 16);
}

}  // namespace
}  // namespace augur
