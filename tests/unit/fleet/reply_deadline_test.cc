// SPDX-License-Identifier: Apache-2.0
#include "fleet/reply_deadline.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

ReplyDeadline After(microseconds time, int count = 512) {
  ReplyDeadline deadline;
  for (int i = 0; i < count; ++i) deadline.OnReply(time);
  return deadline;
}

TEST(ReplyDeadline, IsTwiceThe99thPercentileWithinItsBounds) {
  EXPECT_EQ(After(milliseconds(90)).first_byte(), milliseconds(180));
  EXPECT_EQ(After(microseconds(200)).first_byte(), milliseconds(100));
  EXPECT_EQ(After(milliseconds(600)).first_byte(), milliseconds(1000));
}

TEST(ReplyDeadline, FourLateOnesOf512DoNotMoveItAndSixDo) {
  for (const int late : {4, 6}) {
    ReplyDeadline deadline = After(milliseconds(60), 512 - late);
    for (int i = 0; i < late; ++i) deadline.OnReply(milliseconds(300));
    EXPECT_EQ(deadline.first_byte(), late == 4 ? milliseconds(120) : milliseconds(600));
  }
}

TEST(ReplyDeadline, IsHalfASecondWhileLittleIsKnown) {
  EXPECT_EQ(After(milliseconds(1), 63).first_byte(), milliseconds(500));
  EXPECT_EQ(After(milliseconds(1), 64).first_byte(), milliseconds(100));
}

TEST(ReplyDeadline, ManyBytesTakeLonger) { EXPECT_EQ(After(milliseconds(10)).For(2'500'000), milliseconds(100 + 100)); }

}  // namespace
}  // namespace augur
