// SPDX-License-Identifier: Apache-2.0
#include "pack/member_path.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(MemberPath, BecomesRelativeAndPlain) {
  EXPECT_EQ(*MemberPath("./a/b"), "a/b");
  EXPECT_EQ(*MemberPath("/a//b/./c/"), "a/b/c");
  EXPECT_EQ(*MemberPath("./"), "");
  EXPECT_EQ(*MemberPath("..a/b.."), "..a/b..");
  EXPECT_EQ(*MemberPath("a\xff"), "a\xff");
}

TEST(MemberPath, RefusesToLeaveTheTree) {
  for (const char* bad : {"..", "../a", "a/../b", "a/..", "/.."}) {
    const auto path = MemberPath(bad);
    ASSERT_FALSE(path.ok()) << bad;
    EXPECT_EQ(path.status().code(), Code::kInvalid);
    EXPECT_NE(path.status().text().find(bad), std::string::npos);
  }
}

}  // namespace
}  // namespace augur
