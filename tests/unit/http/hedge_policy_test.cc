// SPDX-License-Identifier: Apache-2.0
#include "http/hedge_policy.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

using std::chrono::milliseconds;

HedgePolicy WithFirstBytes(milliseconds time, int count = 63) {
  HedgePolicy policy({});
  for (int i = 0; i < count; ++i) policy.OnFirstByte(time);
  return policy;
}

TEST(HedgePolicy, ThresholdIsFiveMediansAndAtLeast150Milliseconds) {
  EXPECT_EQ(WithFirstBytes(milliseconds(10)).Threshold(), milliseconds(150));
  EXPECT_EQ(WithFirstBytes(milliseconds(60)).Threshold(), milliseconds(300));
}

TEST(HedgePolicy, FewLateOnesDoNotMoveTheMedian) {
  HedgePolicy policy = WithFirstBytes(milliseconds(60));
  for (int i = 0; i < 30; ++i) policy.OnFirstByte(milliseconds(5000));
  EXPECT_EQ(policy.Threshold(), milliseconds(300));
  for (int i = 0; i < 30; ++i) policy.OnFirstByte(milliseconds(70));
  EXPECT_EQ(policy.Threshold(), milliseconds(350));
}

TEST(HedgePolicy, WaitsASecondWhileNothingIsKnown) {
  EXPECT_EQ(HedgePolicy({}).Threshold(), milliseconds(1000));
  EXPECT_EQ(WithFirstBytes(milliseconds(1), 7).Threshold(), milliseconds(1000));
  EXPECT_EQ(WithFirstBytes(milliseconds(1), 8).Threshold(), milliseconds(150));
}

TEST(HedgePolicy, AWholeAnswerHasThreeTimesTheUsualTimeForItsBytes) {
  constexpr size_t kMib = 1 << 20;
  HedgePolicy policy({});
  EXPECT_EQ(policy.WholeThreshold(kMib), milliseconds(1000));
  for (int i = 0; i < 40; ++i) policy.OnWhole(milliseconds(80), kMib);
  for (int i = 0; i < 20; ++i) policy.OnWhole(milliseconds(9000), 4 * kMib);
  EXPECT_EQ(policy.WholeThreshold(kMib), milliseconds(240));
  EXPECT_EQ(policy.WholeThreshold(4 * kMib), milliseconds(960));
  EXPECT_EQ(policy.WholeThreshold(1), milliseconds(150));
  // A short answer tells nothing of the time for a long one.
  for (int i = 0; i < 63; ++i) policy.OnWhole(milliseconds(1), 1000);
  EXPECT_EQ(policy.WholeThreshold(kMib), milliseconds(240));
}

TEST(HedgePolicy, HedgesAtMostOneRequestInTwenty) {
  HedgePolicy policy({});
  int hedges = 0;
  for (int i = 0; i < 10'000; ++i) {
    policy.OnRequest();
    hedges += policy.TryHedge(/*preferred=*/true) ? 1 : 0;
  }
  EXPECT_LE(hedges, 501);  // one more at the start
  EXPECT_GE(hedges, 499);
}

TEST(HedgePolicy, ThresholdDoublesWhenTheBudgetIsUsedUpAndHalvesWhenItIsFull) {
  HedgePolicy policy = WithFirstBytes(milliseconds(10));
  EXPECT_TRUE(policy.TryHedge(true));
  EXPECT_FALSE(policy.TryHedge(true));
  EXPECT_EQ(policy.Threshold(), milliseconds(300));
  EXPECT_FALSE(policy.TryHedge(true));  // of the same time
  EXPECT_EQ(policy.Threshold(), milliseconds(300));
  for (int i = 0; i < 21; ++i) policy.OnRequest();
  EXPECT_TRUE(policy.TryHedge(true));
  EXPECT_FALSE(policy.TryHedge(true));
  EXPECT_EQ(policy.Threshold(), milliseconds(600));
  for (int i = 0; i < 202; ++i) policy.OnRequest();
  EXPECT_EQ(policy.Threshold(), milliseconds(300));
  for (int i = 0; i < 22; ++i) policy.OnRequest();
  EXPECT_EQ(policy.Threshold(), milliseconds(150));
  for (int i = 0; i < 1000; ++i) policy.OnRequest();
  EXPECT_EQ(policy.Threshold(), milliseconds(150));
}

TEST(HedgePolicy, LeavesTwoToThoseWhoAreWaitedFor) {
  HedgePolicy policy({});
  for (int i = 0; i < 60; ++i) policy.OnRequest();  // budget of 4
  EXPECT_TRUE(policy.TryHedge(/*preferred=*/false));
  EXPECT_FALSE(policy.TryHedge(/*preferred=*/false));
  EXPECT_TRUE(policy.TryHedge(/*preferred=*/true));
  EXPECT_TRUE(policy.TryHedge(/*preferred=*/true));
}

}  // namespace
}  // namespace augur
