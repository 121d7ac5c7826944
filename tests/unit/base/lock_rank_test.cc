// SPDX-License-Identifier: Apache-2.0
#include "base/lock_rank.h"

#include <gtest/gtest.h>

#include "base/mutex.h"

namespace augur {
namespace {

TEST(LockRank, RisingRanksAreAllowed) {
  HeldRanks held;
  EXPECT_TRUE(held.Add(LockRank::kOuter));
  EXPECT_TRUE(held.Add(LockRank::kMiddle));
  EXPECT_TRUE(held.Add(LockRank::kLeaf));
}

TEST(LockRank, TheSameAndALowerRankAreForbidden) {
  HeldRanks held;
  ASSERT_TRUE(held.Add(LockRank::kMiddle));
  EXPECT_FALSE(held.Add(LockRank::kMiddle));
  EXPECT_FALSE(held.Add(LockRank::kOuter));
}

TEST(LockRank, UnlockedInAnyOrder) {
  HeldRanks held;
  ASSERT_TRUE(held.Add(LockRank::kOuter));
  ASSERT_TRUE(held.Add(LockRank::kLeaf));
  held.Remove(LockRank::kOuter);
  EXPECT_FALSE(held.Add(LockRank::kOuter));
  held.Remove(LockRank::kLeaf);
  EXPECT_TRUE(held.Add(LockRank::kOuter));
}

#if defined(AUGUR_CHECK_LOCK_RANKS)
TEST(LockRankDeathTest, AMutexUnderALeafEndsTheProcess) {
  Mutex leaf;
  Mutex other;
  EXPECT_DEATH(
      {
        const MutexLock held(leaf);
        const MutexLock wrong(other);
      },
      "lock order");
}

TEST(LockRank, ASleeperHoldsNothing) {
  Mutex mu(LockRank::kMiddle);
  Mutex leaf;
  CondVar changed;
  {
    const MutexLock lock(mu);
    changed.WaitFor(mu, std::chrono::milliseconds(1));
    const MutexLock inner(leaf);
  }
  const MutexLock again(mu);
}
#endif

}  // namespace
}  // namespace augur
