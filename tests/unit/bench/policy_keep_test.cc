// SPDX-License-Identifier: Apache-2.0
#include "policy_keep.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(KeepPolicyTest, KeepsWhatCameFirstAndEvictsNothing) {
  KeepPolicy policy(100);
  EXPECT_TRUE(policy.Admit(1, 60));
  EXPECT_FALSE(policy.Admit(2, 41));
  EXPECT_TRUE(policy.Admit(3, 40));
  EXPECT_FALSE(policy.Admit(4, 1));
  EXPECT_TRUE(policy.Admit(4, 0));
  EXPECT_TRUE(policy.Admit(1, 60));  // it is there
  EXPECT_EQ(policy.bytes(), 100U);
  EXPECT_FALSE(policy.Contains(2));
}

TEST(KeepPolicyTest, RoomComesBackWithWhatIsRemoved) {
  KeepPolicy policy(100);
  ASSERT_TRUE(policy.Admit(1, 100));
  policy.Remove(7);
  policy.Remove(1);
  policy.Remove(1);
  EXPECT_EQ(policy.bytes(), 0U);
  EXPECT_FALSE(policy.Contains(1));
  EXPECT_TRUE(policy.Admit(2, 100));
}

}  // namespace
}  // namespace augur
