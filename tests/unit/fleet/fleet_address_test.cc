// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_address.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(FleetAddress, NamesAndNumbers) {
  for (const char* text :
       {"node7:11211", "node-7.cluster.example:1", "10.0.0.7:65535", "[fd00::7]:11211", "[::1]:11211"}) {
    const Result<FleetAddress> address = ParseFleetAddress(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->text(), text);
  }
  EXPECT_EQ(ParseFleetAddress("[fd00::7]:11211")->host, "fd00::7");
}

TEST(FleetAddress, WhatIsNoneIsSaid) {
  for (const char* text :
       {"", "node7", "node7:", ":11211", "node7:0", "node7:65536", "node7:-1", "node7:11211x", "node 7:1",
        "fd00::7:11211", "[fd00::7]", "[node7]:11211", "[]:11211", "no/de:1", "user@node7:1", "n\303\266de:1"}) {
    const Result<FleetAddress> address = ParseFleetAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.status().code(), Code::kInvalid);
    EXPECT_NE(address.status().text().find("HOST:PORT is wanted, such as node7:11211"), std::string::npos);
  }
  EXPECT_FALSE(ParseFleetAddress(std::string(254, 'a') + ":1").ok());
}

TEST(FleetAddress, AListHasUnderscoresBlanksLinesAndComments) {
  const auto list = ParseFleetAddresses("a:1_b:2 c:3\n# of the rack d:9\n  d:4#e:5\n\n");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(*list, (std::vector<FleetAddress>{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}}));
}

TEST(FleetAddress, AListWithOneMistakeIsNone) {
  EXPECT_NE(ParseFleetAddresses("a:1_b").status().text().find("'b' is no address"), std::string::npos);
  EXPECT_NE(ParseFleetAddresses("a:1_b:2_a:1").status().text().find("a:1 is there twice"), std::string::npos);
  EXPECT_FALSE(ParseFleetAddresses("").ok());
  EXPECT_FALSE(ParseFleetAddresses("_ \n#a:1\n").ok());
  std::string many;
  for (size_t i = 0; i <= kFleetMembersMax; ++i) many += "n" + std::to_string(i) + ":1_";
  EXPECT_NE(ParseFleetAddresses(many).status().text().find("1025 servers"), std::string::npos);
}

}  // namespace
}  // namespace augur
