// SPDX-License-Identifier: Apache-2.0
#include "fs/render_budget.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(RenderBudgetTest, ReadersHaveHalfBesideJobsAhead) {
  RenderBudget budget(800);
  budget.Take(200, true);
  EXPECT_TRUE(budget.Fits(600, false)) << "one job for a reader may have all that is left";
  EXPECT_FALSE(budget.Fits(601, false));
  budget.Take(300, false);
  EXPECT_TRUE(budget.Fits(100, false));
  EXPECT_FALSE(budget.Fits(101, false)) << "two of them have a half";
}

TEST(RenderBudgetTest, JobsAheadHaveAQuarter) {
  RenderBudget budget(800);
  EXPECT_EQ(budget.ahead_bytes_max(), 400U);
  EXPECT_TRUE(budget.Fits(400, true)) << "one alone may have a half";
  EXPECT_FALSE(budget.Fits(401, true));
  budget.Take(100, true);
  EXPECT_TRUE(budget.Fits(100, true));
  EXPECT_FALSE(budget.Fits(101, true));
}

TEST(RenderBudgetTest, NothingBeyondTheBudget) {
  RenderBudget budget(800);
  budget.Take(700, false);
  EXPECT_FALSE(budget.Fits(101, true));
  EXPECT_TRUE(budget.Fits(100, true));
  budget.GiveBack(700, false);
  EXPECT_EQ(budget.taken_bytes(), 0U);
  EXPECT_TRUE(budget.Fits(800, false));
}

}  // namespace
}  // namespace augur
