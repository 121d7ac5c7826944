// SPDX-License-Identifier: Apache-2.0
#include "predict/try_budget.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

constexpr uint64_t kSecond = 1'000'000;

// The processor time of the tries in so many seconds, of jobs that always have one of this price.
double Tried(TryBudget* budget, uint64_t begin_s, uint64_t seconds, double price) {
  double tried = 0;
  for (uint64_t ms = 0; ms < seconds * 1000; ms += 10) {
    if (!budget->MayTry(begin_s * kSecond + ms * 1000)) continue;
    budget->Pay(price);
    tried += price;
  }
  return tried;
}

TEST(TryBudgetTest, AllThatIsThereAtFirstMayBeSpentAtOnce) {
  TryBudget budget;
  for (int i = 0; i < 15; ++i) {
    ASSERT_TRUE(budget.MayTry(7 * kSecond)) << i;
    budget.Pay(2);
  }
  EXPECT_FALSE(budget.MayTry(7 * kSecond));
}

TEST(TryBudgetTest, InTheLongRunItIsAShareOfACore) {
  TryBudget budget;
  EXPECT_NEAR(Tried(&budget, 1, 10'000, 0.005), TryBudget::kFullSeconds + 10'000 * TryBudget::kShare, 1);
  // A long try is paid for as well: no other is made until then.
  budget.Pay(50);
  EXPECT_EQ(Tried(&budget, 10'001, 499, 0.005), 0);
  EXPECT_GT(Tried(&budget, 10'500, 100, 0.005), 0);
}

TEST(TryBudgetTest, TimeWithoutTriesIsNotSavedForEver) {
  TryBudget budget;
  ASSERT_TRUE(budget.MayTry(kSecond));
  EXPECT_NEAR(Tried(&budget, 1'000'000, 1, 0.5), TryBudget::kFullSeconds, 1);
}

}  // namespace
}  // namespace augur
