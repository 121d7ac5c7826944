// SPDX-License-Identifier: Apache-2.0
#include "prefetch/view_turns.h"

#include <gtest/gtest.h>

#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

class ViewTurnsTest : public ::testing::Test {
 protected:
  // Reads of the view until it is wanted; at most 100.
  int ReadsToWant(uint32_t view) {
    int reads = 0;
    while (reads < 100 && turns_.wanted() != view) {
      EXPECT_FALSE(turns_.OnAccess(view));
      ++reads;
    }
    return reads;
  }

  ViewTurns turns_;
};

TEST_F(ViewTurnsTest, AViewThatWasNotReadIsLeftSoon) {
  turns_.Begin(3);
  EXPECT_EQ(turns_.followed(), 3U);
  EXPECT_EQ(ReadsToWant(1), 4);
  EXPECT_TRUE(turns_.turns());
  EXPECT_EQ(turns_.reads_seen(), 0U);
}

TEST_F(ViewTurnsTest, AViewThatWasReadIsLeftWhenAnotherAloneIs) {
  EXPECT_TRUE(turns_.OnAccess(0));
  for (int i = 0; i < 63; ++i) EXPECT_FALSE(turns_.OnAccess(1));
  EXPECT_TRUE(turns_.OnAccess(0));
  EXPECT_FALSE(turns_.turns());
  for (int i = 0; i < 63; ++i) EXPECT_FALSE(turns_.OnAccess(1));
  EXPECT_FALSE(turns_.OnAccess(2));
  EXPECT_FALSE(turns_.turns());
  EXPECT_EQ(ReadsToWant(1), 64);
  // The next one begins as the first did.
  turns_.Begin(1);
  EXPECT_FALSE(turns_.turns());
  EXPECT_EQ(ReadsToWant(0), 4);
  EXPECT_EQ(turns_.reads_seen(), 2U);
}

TEST_F(ViewTurnsTest, ADropForgetsReads) {
  EXPECT_TRUE(turns_.OnAccess(0));
  turns_.ForgetReads();
  EXPECT_EQ(turns_.reads_seen(), 0U);
  EXPECT_EQ(ReadsToWant(1), 4);
}

TEST_F(ViewTurnsTest, ThePredictedViewIsWantedAtTheEndOfAnOrder) {
  turns_.orders().Add(1, Shared({10}));
  turns_.LookAhead(false, true, false);
  EXPECT_FALSE(turns_.turns());
  turns_.LookAhead(true, false, false);  // a given order, or a pass
  EXPECT_FALSE(turns_.turns());
  turns_.LookAhead(true, true, false);
  EXPECT_EQ(turns_.wanted(), 1U);
}

TEST_F(ViewTurnsTest, WithoutAnOrderAReadOfAnotherViewIsNeeded) {
  turns_.orders().Add(1, Shared({10}));
  turns_.LookAhead(true, false, true);
  EXPECT_FALSE(turns_.turns());
  EXPECT_TRUE(turns_.OnAccess(0));
  EXPECT_FALSE(turns_.OnAccess(1));
  turns_.LookAhead(true, false, true);
  EXPECT_EQ(turns_.wanted(), 1U);
}

TEST_F(ViewTurnsTest, AnOrderOfTheFollowedViewChangesNothing) {
  turns_.orders().Add(0, Shared({10}));
  turns_.orders().Add(1, Shared({10}));
  turns_.LookAhead(true, true, false);
  EXPECT_FALSE(turns_.turns());
}

}  // namespace
}  // namespace augur
