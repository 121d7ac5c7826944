// SPDX-License-Identifier: Apache-2.0
#include "seed_search/core_contention.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace augur {
namespace {

using std::chrono::milliseconds;
using Time = CoreContention::Time;

constexpr CoreContention::Look kFree = {.own = CoreContention::kWindow};
constexpr CoreContention::Look kHalf = {.own = CoreContention::kWindow / 2, .waited = CoreContention::kWindow / 2};

// A window in which so many threads more want a core than there are, and this worker need not wait.
CoreContention::Look WithExcess(int excess_threads, unsigned workers) {
  return {.own = CoreContention::kWindow, .waited = Time::zero(), .excess_threads = excess_threads, .workers = workers};
}

// Chance adds up to half of it.
void ExpectPause(Time pause, Time of) {
  EXPECT_GE(pause, of);
  EXPECT_LE(pause, of + of / 2);
}

TEST(CoreContention, WhoNeedNotWaitGoesOn) {
  CoreContention core_contention(1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(core_contention.Pass({.own = milliseconds(1), .waited = Time(50'000)}), Time::zero());
  }
}

// Whoever sleeps for most of the time gets the core when he wants it.
TEST(CoreContention, WhoWaitsNowAndThenGoesOn) {
  CoreContention core_contention(1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(
        core_contention.Pass({.own = milliseconds(3), .waited = milliseconds(1), .excess_threads = i % 4 == 0 ? 1 : 0}),
        Time::zero());
  }
}

// Threads beyond the cores in `crowded` of the ten looks of each window; the worker itself waits for none of them.
Time PauseBeside(int crowded) {
  CoreContention core_contention(1);
  Time longest{};
  for (int look = 0; look < 1000; ++look) {
    longest = std::max(longest,
                       core_contention.Pass({.own = milliseconds(2), .excess_threads = look % 10 < crowded ? 1 : 0}));
  }
  return longest;
}

// A slice of the kernel's is 3 ms.
TEST(CoreContention, WhoComesForTwoSlicesInAWindowIsNotInTheWay) { EXPECT_EQ(PauseBeside(3), Time::zero()); }

TEST(CoreContention, WhoWantsMostOfACoreIsGivenOne) { EXPECT_GT(PauseBeside(7), Time::zero()); }

TEST(CoreContention, WhoMustWaitStaysAwayForLongerAndLonger) {
  CoreContention core_contention(1);
  EXPECT_EQ(core_contention.Pass({.own = milliseconds(8), .waited = milliseconds(8)}), Time::zero()) << "not known yet";
  ExpectPause(core_contention.Pass({.own = milliseconds(2), .waited = milliseconds(2)}), CoreContention::kPauseMin);
  ExpectPause(core_contention.Pass({.own = milliseconds(10), .waited = milliseconds(11)}),
              2 * CoreContention::kPauseMin);
  Time pause{};
  Time own{};
  Time away{};
  for (int i = 0; i < 100; ++i) {
    pause = core_contention.Pass(kHalf);
    own += kHalf.own;
    away += pause + kHalf.waited;
  }
  ExpectPause(pause, CoreContention::kPauseMax);
  EXPECT_LT(own, away / 100);
}

TEST(CoreContention, IsBackAtOnceWhenTheCoreIsFree) {
  CoreContention core_contention(1);
  for (int i = 0; i < 10; ++i) core_contention.Pass({.own = milliseconds(5), .waited = milliseconds(50)});
  EXPECT_EQ(core_contention.Pass(kFree), Time::zero());
  ExpectPause(core_contention.Pass(kHalf), CoreContention::kPauseMin);  // it begins anew
}

TEST(CoreContention, WhoCameLastGoesFirst) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    CoreContention core_contention(seed);
    ExpectPause(core_contention.Pass(kHalf), CoreContention::kPauseMin);
    ExpectPause(core_contention.Pass(WithExcess(1, 8)), 2 * CoreContention::kPauseMin);  // back for one window
    EXPECT_EQ(core_contention.Pass(kFree), Time::zero());
    EXPECT_EQ(core_contention.Pass(WithExcess(8, 8)), Time::zero()) << "another may have come";
    EXPECT_EQ(core_contention.Pass(kFree), Time::zero());
  }
}

TEST(CoreContention, OfThoseWhoAreThereAsManyGoAsAreTooMany) {
  for (const int excess_threads : {2, 4, 8}) {
    int gone = 0;
    for (uint32_t seed = 1; seed <= 1000; ++seed) {
      CoreContention core_contention(seed * 7919);
      EXPECT_EQ(core_contention.Pass(WithExcess(excess_threads, 8)), Time::zero());
      if (core_contention.Pass(WithExcess(excess_threads, 8)) > Time::zero()) ++gone;
    }
    EXPECT_NEAR(gone, 125 * excess_threads, 70) << excess_threads << " of 8";
  }
}

// A worker for each core beside others who want a core all the time, in steps of a millisecond. Who wants a core has
// one, wherever the kernel puts him: the workers cannot know by their own waiting.
double WorkersAtWork(unsigned cores, unsigned others) {
  constexpr int kSteps = 100'000;
  std::vector<CoreContention> contentions;
  for (unsigned i = 0; i < cores; ++i) contentions.emplace_back(i + 1);
  std::vector<int> back(cores, 0);
  int64_t sum = 0;
  for (int now = 0; now < kSteps; ++now) {
    const auto at_work = static_cast<unsigned>(std::ranges::count_if(back, [now](int at) { return at <= now; }));
    const int excess_threads = std::max(0, static_cast<int>(at_work + others) - static_cast<int>(cores));
    for (unsigned i = 0; i < cores; ++i) {
      if (back[i] > now) continue;
      const Time away = contentions[i].Pass(
          {.own = milliseconds(1), .waited = Time::zero(), .excess_threads = excess_threads, .workers = at_work});
      back[i] = now + 1 + static_cast<int>(away / milliseconds(1));
    }
    sum += at_work;
  }
  return static_cast<double>(sum) / kSteps;
}

TEST(CoreContention, WorkersTakeTheCoresThatNobodyWants) {
  EXPECT_EQ(WorkersAtWork(2, 0), 2.0);
  EXPECT_NEAR(WorkersAtWork(2, 1), 1, 0.15);
  // Who looks again in vain takes a fiftieth of a core for that.
  EXPECT_LE(WorkersAtWork(2, 2), 2. / 50);
  EXPECT_LE(WorkersAtWork(2, 7), 2. / 50);
  EXPECT_NEAR(WorkersAtWork(16, 4), 12, 1);
  EXPECT_LE(WorkersAtWork(16, 16), 16. / 50);
}

TEST(RunQueueLength, IsWhoWantsACoreBeyondThoseThatThereAre) {
  std::atomic<bool> ends = false;
  std::vector<std::thread> busy;
  for (unsigned i = 0; i < std::thread::hardware_concurrency() + 2; ++i) {
    busy.emplace_back([&] {
      while (!ends.load()) {
      }
    });
  }
  const RunQueueLength run_queue;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  int most = 0;
  while (most < 2 && std::chrono::steady_clock::now() < end) most = std::max(most, run_queue.Now());
  ends.store(true);
  for (std::thread& thread : busy) thread.join();
  EXPECT_GE(most, 2);
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
