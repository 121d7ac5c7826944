// SPDX-License-Identifier: Apache-2.0
#include "seed_search/share_budget.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace augur {
namespace {

using namespace std::chrono_literals;
using Time = ShareBudget::Time;

// A machine in which the clerk works in pieces of 0.7 ms whenever it may, and idle workers get `idle_share` of a core.
// Each time it wakes up costs it 20 microseconds.
struct Machine {
  // Runs for `duration`, returns what the clerk had.
  Time Run(Time duration, double share, double idle_share) {
    Time own{0};
    for (Time now{0}; now < duration;) {
      const Time piece = budget.MayWork() ? Time(700us) : budget.Pause(share);
      const Time worked = budget.MayWork() ? piece : Time(0);
      const Time waking = budget.MayWork() ? Time(0) : Time(20us);
      budget.Pass(piece, Time(static_cast<Time::rep>(static_cast<double>(piece.count()) * idle_share)), worked + waking,
                  share);
      own += worked;
      all += worked + waking;
      now += piece;
      pause_max = std::max(pause_max, worked == Time(0) ? piece : Time(0));
    }
    return own;
  }

  ShareBudget budget;
  Time pause_max{0};
  Time all{0};  // and the waking up
};

double RankSubset(Time own, Time duration) {
  return static_cast<double>(own.count()) / static_cast<double>(duration.count());
}

TEST(ShareBudget, TheClerkGetsItsShareWhereNoCoreIsIdle) {
  for (const double share : {0.02, 0.25, 0.5, 0.9}) {
    Machine machine;
    EXPECT_NEAR(RankSubset(machine.Run(100s, share, 0), 100s), share, 0.01 * share) << share;
    EXPECT_LE(RankSubset(machine.all, 100s), share + 0.01) << share;
  }
}

TEST(ShareBudget, AWholeCoreIsNeverLeft) {
  Machine machine;
  EXPECT_GT(RankSubset(machine.Run(10s, 1, 0), 10s), 0.99);
}

TEST(ShareBudget, OnlyWhatIsMissingIsTaken) {
  Machine machine;
  EXPECT_NEAR(RankSubset(machine.Run(100s, 0.5, 0.3), 100s), 0.2, 0.01);
  EXPECT_EQ(machine.Run(100s, 0.5, 0.6), 0s);
  EXPECT_EQ(machine.Run(100s, 0.5, 64), 0s);
}

TEST(ShareBudget, TheClerkIsBackSoonAfterTheCoresGetBusy) {
  Machine machine;
  machine.Run(1000s, 0.25, 8);
  // 0.2 s for the debt, 12 ms for a full account, 0.1 s for the last pause.
  EXPECT_GT(machine.Run(400ms, 0.25, 0), 0s);
}

TEST(ShareBudget, WhatTheClerkTookTooMuchIsNotForgotten) {
  Machine machine;
  machine.budget.Pass(1s, 0s, 0s, 0.1);
  ASSERT_TRUE(machine.budget.MayWork());
  machine.budget.Pass(2s, 0s, 2s, 0.1);  // a range that did not ask for its turn
  EXPECT_EQ(machine.Run(17s, 0.1, 0), 0s);
  EXPECT_GT(machine.Run(2s, 0.1, 0), 0s);
}

TEST(ShareBudget, PausesAreBounded) {
  Machine machine;
  machine.Run(10s, 0.001, 5);
  EXPECT_EQ(machine.pause_max, ShareBudget::kPauseMax);
}

}  // namespace
}  // namespace augur
