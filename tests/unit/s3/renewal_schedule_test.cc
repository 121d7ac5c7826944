// SPDX-License-Identifier: Apache-2.0
#include "s3/renewal_schedule.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr UtcTime kNow{std::chrono::hours(500'000)};

TEST(RenewalSchedule, RenewsFiveMinutesBeforeTheEnd) {
  RenewalSchedule schedule;
  schedule.Succeeded(kNow, kNow + minutes(60));
  EXPECT_EQ(schedule.due(), kNow + minutes(55));
}

TEST(RenewalSchedule, RenewsShortLivesAtTheirHalf) {
  RenewalSchedule schedule;
  schedule.Succeeded(kNow, kNow + minutes(6));
  EXPECT_EQ(schedule.due(), kNow + minutes(3));
}

TEST(RenewalSchedule, DoesNotRenewWhatStays) {
  RenewalSchedule schedule;
  schedule.Succeeded(kNow, std::nullopt);
  EXPECT_FALSE(schedule.due().has_value());
  schedule.Failed(kNow);
  EXPECT_FALSE(schedule.due().has_value());
}

TEST(RenewalSchedule, DoublesThePauseAfterEachFailureUpToAMinute) {
  RenewalSchedule schedule;
  schedule.Succeeded(kNow, kNow + minutes(60));
  UtcTime now = kNow + minutes(55);
  for (const int pause : {2, 4, 8, 16, 32, 60, 60}) {
    EXPECT_TRUE(schedule.MayTry(now));
    schedule.Failed(now);
    EXPECT_EQ(schedule.due(), now + seconds(pause));
    EXPECT_FALSE(schedule.MayTry(now));
    EXPECT_FALSE(schedule.MayTry(now + seconds(pause - 1)));
    now += seconds(pause);
  }
  schedule.Succeeded(now, now + minutes(60));
  EXPECT_EQ(schedule.due(), now + minutes(55));
  schedule.Failed(now);
  EXPECT_EQ(schedule.due(), now + seconds(2));
}

TEST(RenewalSchedule, DoesNotWaitForAClockThatWasSetBack) {
  RenewalSchedule schedule;
  schedule.Succeeded(kNow, std::nullopt);
  schedule.Failed(kNow);
  EXPECT_TRUE(schedule.MayTry(kNow - minutes(10)));
}

}  // namespace
}  // namespace augur
