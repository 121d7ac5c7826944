// SPDX-License-Identifier: Apache-2.0
#include "prefetch/limit_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace augur {
namespace {

constexpr double kReadUs = 1e6 / 150;
constexpr double kByteUs = 1e6 / 150e6;

// A window of 16 reads of `bytes` each under two limits, `noise` times as long as it should be.
void AddWindow(LimitFit* fit, double bytes, double noise = 1) {
  fit->Add(16, 16 * bytes, noise * 16 * std::max(kReadUs, bytes * kByteUs));
}

TEST(LimitFitTest, KnowsNothingAtFirst) {
  const LimitFit fit;
  EXPECT_FALSE(fit.known());
  EXPECT_EQ(fit.CostUs(1, 1), 0);
}

TEST(LimitFitTest, IsNotKnownBeforeBothLimitsHaveBound) {
  LimitFit fit;
  for (int i = 0; i < 100; ++i) AddWindow(&fit, 100e3 + 1e3 * (i % 20));
  EXPECT_FALSE(fit.known()) << "whether reads or bytes bind, nobody can say";
  for (int i = 0; i < 20; ++i) AddWindow(&fit, 2.5e6);
  for (int i = 0; i < 20; ++i) AddWindow(&fit, 100e3);
  EXPECT_TRUE(fit.known());
}

// Limits that are enforced in steps make single windows a fifth too long or too short.
TEST(LimitFitTest, FindsBothLimits) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> noise(0.8, 1.2);
    LimitFit fit;
    for (int i = 0; i < 300; ++i) {
      const double bytes = i % 3 == 0 ? 2.5e6 : i % 3 == 1 ? 100e3 : 900e3;
      AddWindow(&fit, bytes, noise(random));
    }
    EXPECT_NEAR(fit.read_us() / kReadUs, 1, 0.2);
    EXPECT_NEAR(fit.byte_us() / kByteUs, 1, 0.2);
  }
}

// The part of the way from 1 to `factor` that is left, when the cost of a read is learned from windows of that factor.
double LeftAfter(int windows, double factor) {
  LimitFit fit;
  AddWindow(&fit, 100e3);
  for (int i = 0; i < windows; ++i) AddWindow(&fit, 100e3, factor);
  return (factor - fit.read_us() / kReadUs) / (factor - 1);
}

TEST(LimitFitTest, AQuickerDiskIsBelievedInAFewWindowsButNotInOne) {
  EXPECT_GE(LeftAfter(1, 0.85), 0.5);
  EXPECT_LE(LeftAfter(5, 0.85), 0.15);
  EXPECT_LE(LeftAfter(1, 0.5), 0.3) << "such a rate was not tried before";
}

TEST(LimitFitTest, ASlowerDiskIsBelievedInSeveralWindows) {
  EXPECT_GE(LeftAfter(1, 2), 0.7);
  EXPECT_LE(LeftAfter(5, 2), 0.4);
  EXPECT_GE(LeftAfter(1, 100), 0.996) << "a window that something else held up";
}

TEST(LimitFitTest, ALimitIsNotKnownFromWindowsInWhichTheOtherTakesAboutAsLong) {
  LimitFit fit;
  AddWindow(&fit, 2.5e6);
  for (int i = 0; i < 20; ++i) AddWindow(&fit, 100e3);
  for (int i = 0; i < 20; ++i) AddWindow(&fit, 1.1e6);
  EXPECT_FALSE(fit.known());
  AddWindow(&fit, 2e6);
  EXPECT_TRUE(fit.known());
}

TEST(LimitFitTest, ReadsThatBindForLongDoNotMakeBytesExpensive) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> noise(0.8, 2.0);
  LimitFit fit;
  for (int i = 0; i < 50; ++i) AddWindow(&fit, i % 2 == 0 ? 2.5e6 : 100e3);
  for (int i = 0; i < 1000; ++i) AddWindow(&fit, 600e3, noise(random));
  EXPECT_LE(fit.byte_us(), 1.1 * kByteUs);
}

}  // namespace
}  // namespace augur
