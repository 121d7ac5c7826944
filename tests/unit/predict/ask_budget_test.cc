// SPDX-License-Identifier: Apache-2.0
#include "predict/ask_budget.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

constexpr uint64_t kSecond = 1'000'000;

// What is asked in so many seconds by jobs that always have a question of this price.
double Asked(AskBudget* budget, uint64_t begin_s, uint64_t seconds, double price) {
  double asked = 0;
  for (uint64_t ms = 0; ms < seconds * 1000; ms += 10) {
    if (!budget->MayAsk(begin_s * kSecond + ms * 1000)) continue;
    budget->Pay(price);
    asked += price;
  }
  return asked;
}

TEST(AskBudgetTest, WhatIsThereAtFirstMayBeAskedAtOnce) {
  AskBudget budget;
  for (int i = 0; i < 15; ++i) {
    ASSERT_TRUE(budget.MayAsk(7 * kSecond)) << i;
    budget.Pay(2);
  }
  EXPECT_FALSE(budget.MayAsk(7 * kSecond));
}

TEST(AskBudgetTest, InTheLongRunItIsAShareOfACore) {
  AskBudget budget;
  EXPECT_NEAR(Asked(&budget, 1, 10'000, 0.005), AskBudget::kFullSeconds + 10'000 * AskBudget::kShare, 1);
  // A long question is paid for as well: nothing is asked until it is.
  budget.Pay(50);
  EXPECT_EQ(Asked(&budget, 10'001, 499, 0.005), 0);
  EXPECT_GT(Asked(&budget, 10'500, 100, 0.005), 0);
}

TEST(AskBudgetTest, WhatIsNotAskedIsNotSavedForEver) {
  AskBudget budget;
  ASSERT_TRUE(budget.MayAsk(kSecond));
  EXPECT_NEAR(Asked(&budget, 1'000'000, 1, 0.5), AskBudget::kFullSeconds, 1);
}

}  // namespace
}  // namespace augur
