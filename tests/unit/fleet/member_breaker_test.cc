// SPDX-License-Identifier: Apache-2.0
#include "fleet/member_breaker.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MemberBreaker::Time kStart{seconds(1000)};

TEST(MemberBreaker, ThreeFailuresInARowPutAMemberOut) {
  MemberBreaker breaker;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(breaker.OnFailure(kStart));
    EXPECT_FALSE(breaker.OnFailure(kStart));
    EXPECT_FALSE(breaker.out());
    EXPECT_FALSE(breaker.OnAnswer());
  }
  EXPECT_FALSE(breaker.OnFailure(kStart));
  EXPECT_FALSE(breaker.OnFailure(kStart));
  EXPECT_TRUE(breaker.MayAsk(kStart));
  EXPECT_TRUE(breaker.OnFailure(kStart));
  EXPECT_TRUE(breaker.out());
  EXPECT_FALSE(breaker.MayAsk(kStart + seconds(30) - milliseconds(1)));
}

TEST(MemberBreaker, OneRequestTriesItAfterThirtySeconds) {
  MemberBreaker breaker;
  for (int i = 0; i < 3; ++i) (void)breaker.OnFailure(kStart);
  EXPECT_TRUE(breaker.MayAsk(kStart + seconds(30)));
  EXPECT_FALSE(breaker.MayAsk(kStart + seconds(30)));
  EXPECT_FALSE(breaker.OnFailure(kStart + seconds(31)));  // told once
  EXPECT_FALSE(breaker.MayAsk(kStart + seconds(59)));
  EXPECT_TRUE(breaker.MayAsk(kStart + seconds(60)));
  EXPECT_TRUE(breaker.OnAnswer());
  EXPECT_FALSE(breaker.out());
  EXPECT_TRUE(breaker.MayAsk(kStart + seconds(60)));
  EXPECT_TRUE(breaker.MayAsk(kStart + seconds(60)));
}

}  // namespace
}  // namespace augur
