// SPDX-License-Identifier: Apache-2.0
#include "http/transfer_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace augur {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr TransferWatch::Limits kLimits = {
    .lookup_max = seconds(15), .connect_max = seconds(3), .stall_max = seconds(5), .bytes_min = 4096};
constexpr TransferWatch::Time kBegin{seconds(1000)};

TransferWatch Begun() {
  TransferWatch watch;
  watch.Begin(kLimits, kBegin);
  return watch;
}

TransferWatch Connected() {
  TransferWatch watch = Begun();
  watch.OnConnected(kBegin);
  return watch;
}

// glibc waits 5 s for the first name server.
TEST(TransferWatch, ALookUpDoesNotCountAsConnecting) {
  TransferWatch watch = Begun();
  EXPECT_FALSE(watch.IsOver(kBegin + seconds(14)));
  EXPECT_TRUE(watch.IsOver(kBegin + seconds(15)));
  EXPECT_THAT(watch.Cause(), HasSubstr("no name server"));
  watch.OnSocket(kBegin + seconds(5));
  EXPECT_FALSE(watch.IsOver(kBegin + milliseconds(7999)));
  watch.OnSocket(kBegin + seconds(7));  // another address
  EXPECT_TRUE(watch.IsOver(kBegin + seconds(8)));
  EXPECT_EQ(watch.Cause(), "no connection in 3000 ms");
  watch.OnConnected(kBegin + seconds(7));
  EXPECT_FALSE(watch.IsOver(kBegin + milliseconds(11'999)));
  EXPECT_TRUE(watch.IsOver(kBegin + seconds(12)));
  EXPECT_FALSE(watch.got_on());
}

TEST(TransferWatch, AKeptConnectionThatIsClosedIsMadeAnew) {
  TransferWatch watch = Connected();
  watch.OnSocket(kBegin + seconds(1));
  EXPECT_TRUE(watch.IsOver(kBegin + seconds(4)));
}

TEST(TransferWatch, SilenceIsTheEnd) {
  TransferWatch watch = Connected();
  watch.OnBytes(10'000, kBegin + seconds(4));
  EXPECT_TRUE(watch.got_on());
  EXPECT_FALSE(watch.IsOver(kBegin + milliseconds(8999)));
  EXPECT_TRUE(watch.IsOver(kBegin + seconds(9)));
  EXPECT_EQ(watch.Cause(), "no byte came for 5000 ms");
}

TEST(TransferWatch, AByteASecondIsSilence) {
  TransferWatch watch = Connected();
  for (int second = 1; second < 10; ++second) {
    EXPECT_FALSE(watch.IsOver(kBegin + seconds(second)));
    watch.OnBytes(1, kBegin + seconds(second));
  }
  EXPECT_TRUE(watch.IsOver(kBegin + seconds(10)));
  EXPECT_EQ(watch.Cause(), "only 9 bytes came in 10000 ms");
  EXPECT_FALSE(watch.got_on());
}

TEST(TransferWatch, ASlowLineGoesOn) {
  TransferWatch watch = Connected();
  for (int second = 1; second < 1000; ++second) {
    ASSERT_FALSE(watch.IsOver(kBegin + seconds(second)));
    watch.OnBytes(500, kBegin + seconds(second));
  }
}

// A phase may begin after NextLook was asked, and be shorter than the one before.
TEST(TransferWatch, IsLookedAtSoonEnough) {
  const TransferWatch watch = Begun();
  EXPECT_EQ(watch.NextLook(kBegin), kBegin + milliseconds(750));
  EXPECT_EQ(watch.NextLook(kBegin + milliseconds(14'900)), kBegin + seconds(15));
}

}  // namespace
}  // namespace augur
