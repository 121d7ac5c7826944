// SPDX-License-Identifier: Apache-2.0
#include "tools/user_account.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace augur {
namespace {

TEST(UserAccountTest, NamesAndNumbers) {
  for (const char* name : {"root", "0"}) {
    const Result<User> root = FindUser(name);
    ASSERT_TRUE(root.ok()) << root.status().text();
    EXPECT_EQ(root->name, "root");
    EXPECT_EQ(root->uid, 0U);
    EXPECT_EQ(root->home, "/root");
    EXPECT_TRUE(std::ranges::find(root->groups, root->gid) != root->groups.end());
  }
}

TEST(UserAccountTest, SaysWhenThereIsNone) {
  for (const char* wrong : {"no-such-user", "", "4294967294", "12x", "line\nfeed"}) {
    const Result<User> user = FindUser(wrong);
    ASSERT_FALSE(user.ok()) << wrong;
    EXPECT_EQ(user.status().code(), Code::kInvalid);
    EXPECT_NE(user.status().text().find("no user of that name"), std::string::npos);
    EXPECT_EQ(user.status().text().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace augur
