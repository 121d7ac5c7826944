// SPDX-License-Identifier: Apache-2.0
#include "tools/group_number.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(GroupNumberTest, NamesAndNumbers) {
  EXPECT_EQ(*GroupNumber("root"), 0U);
  EXPECT_EQ(*GroupNumber("54321"), 54321U) << "with a name or without";
  for (const char* wrong : {"no such group", "", "12x", "-1", "4294967295", "4294967296"}) {
    const Result<gid_t> group = GroupNumber(wrong);
    ASSERT_FALSE(group.ok()) << wrong;
    EXPECT_EQ(group.status().code(), Code::kInvalid);
  }
}

}  // namespace
}  // namespace augur
