// SPDX-License-Identifier: Apache-2.0
#include "fuse/recent_deaths.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RecentDeaths::Clock::time_point kBegin{seconds(1000)};

TEST(RecentDeaths, ThreeWithinTenSecondsAreTooMany) {
  RecentDeaths deaths;
  EXPECT_FALSE(deaths.Add(kBegin));
  EXPECT_FALSE(deaths.Add(kBegin + seconds(5)));
  EXPECT_TRUE(deaths.Add(kBegin + seconds(10)));
}

TEST(RecentDeaths, ThreeInALongerTimeAreNot) {
  RecentDeaths deaths;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(deaths.Add(kBegin + i * milliseconds(5001))) << i;
}

TEST(RecentDeaths, TheOldestIsForgotten) {
  RecentDeaths deaths;
  EXPECT_FALSE(deaths.Add(kBegin));
  EXPECT_FALSE(deaths.Add(kBegin + seconds(9)));
  EXPECT_FALSE(deaths.Add(kBegin + seconds(11)));
  EXPECT_TRUE(deaths.Add(kBegin + seconds(12)));
}

}  // namespace
}  // namespace augur
