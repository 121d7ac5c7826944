// SPDX-License-Identifier: Apache-2.0
#include "tools/end_watchdog.h"

#include <gtest/gtest.h>

#include <future>

namespace augur {
namespace {

constexpr std::chrono::hours kNever(1000);

TEST(EndWatchdogTest, CallsWhenTheLimitIsOver) {
  std::promise<void> expired;
  const auto watchdog = EndWatchdog::Start(std::chrono::milliseconds(0), [&] { expired.set_value(); });
  ASSERT_TRUE(watchdog.ok());
  (*watchdog)->Arm();
  expired.get_future().wait();  // the test's own limit is two minutes
}

TEST(EndWatchdogTest, IsSilentUnlessArmed) {
  bool expired = false;
  {
    ASSERT_TRUE(EndWatchdog::Start(std::chrono::milliseconds(0), [&] { expired = true; }).ok());
  }
  EXPECT_FALSE(expired);
}

TEST(EndWatchdogTest, IsSilentWhenTheEndComesInTime) {
  bool expired = false;
  {
    const auto watchdog = EndWatchdog::Start(kNever, [&] { expired = true; });
    ASSERT_TRUE(watchdog.ok());
    (*watchdog)->Arm();
    (*watchdog)->Arm();
  }
  EXPECT_FALSE(expired);
}

}  // namespace
}  // namespace augur
