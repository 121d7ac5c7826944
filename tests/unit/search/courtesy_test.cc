// SPDX-License-Identifier: Apache-2.0
#include "search/courtesy.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace augur {
namespace {

using std::chrono::milliseconds;
using Time = Courtesy::Time;

TEST(Courtesy, WhoNeedNotWaitGoesOn) {
  Courtesy courtesy;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(courtesy.Pass(milliseconds(1), Time(50'000)), Time::zero());
}

TEST(Courtesy, WhoMustWaitStaysAwayForLongerAndLonger) {
  Courtesy courtesy;
  EXPECT_EQ(courtesy.Pass(milliseconds(4), milliseconds(4)), Time::zero()) << "not known yet";
  EXPECT_EQ(courtesy.Pass(milliseconds(1), milliseconds(1)), Courtesy::kPauseMin);
  EXPECT_EQ(courtesy.Pass(milliseconds(5), milliseconds(6)), 2 * Courtesy::kPauseMin);
  Time pause{};
  Time own{};
  Time away{};
  for (int i = 0; i < 100; ++i) {
    pause = courtesy.Pass(milliseconds(5), milliseconds(5));
    own += milliseconds(5);
    away += pause + milliseconds(5);
  }
  EXPECT_EQ(pause, Courtesy::kPauseMax);
  EXPECT_LT(own, away / 100);
}

TEST(Courtesy, IsBackAtOnceWhenTheCoreIsFree) {
  Courtesy courtesy;
  for (int i = 0; i < 10; ++i) courtesy.Pass(milliseconds(5), milliseconds(50));
  EXPECT_EQ(courtesy.Pass(milliseconds(10), Time::zero()), Time::zero());
  EXPECT_EQ(courtesy.Pass(milliseconds(5), milliseconds(5)), Courtesy::kPauseMin) << "and begins anew";
}

// Two threads on one core: each waits while the other runs.
TEST(RunDelay, CountsTheTimeForWhichAnotherHadTheCore) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  const auto counts = [] { return RunDelay().Total().has_value(); };
  if (!counts()) GTEST_SKIP() << "this kernel does not count it";
  std::atomic<bool> waited = false;
  const auto work = [&] {
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    const RunDelay delay;
    while (!waited.load()) {
      if (*delay.Total() > milliseconds(20)) waited.store(true);
    }
  };
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
  EXPECT_TRUE(waited.load());
}

}  // namespace
}  // namespace augur
