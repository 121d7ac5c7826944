// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_list.h"

#include <gtest/gtest.h>

#include "unit/store/test_store.h"

namespace augur {
namespace {

TEST(FleetList, AddressesStayAsTheyAre) {
  const auto list = FleetList::Parse("a:1_b:2");
  ASSERT_TRUE(list.ok());
  EXPECT_TRUE(list->file().empty());
  EXPECT_EQ(list->Read()->size(), 2U);
  EXPECT_TRUE(FleetList().empty());
  EXPECT_FALSE(list->empty());
}

TEST(FleetList, AFileIsReadEachTime) {
  const testing::TempFolder folder;
  const std::string path = folder.path() + "/list";
  const auto list = FleetList::Parse("@" + path);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->file(), path);
  EXPECT_NE(list->Read().status().text().find(path), std::string::npos);
  testing::WriteFile(path, "a:1\n");
  EXPECT_EQ(list->Read()->size(), 1U);
  testing::WriteFile(path, "a:1\nb:2\n");
  EXPECT_EQ(list->Read()->size(), 2U);
  testing::WriteFile(path, "a:1\nb\n");
  EXPECT_NE(list->Read().status().text().find(path + ": 'b' is no address"), std::string::npos);
  testing::WriteFile(path, std::string((1 << 20) + 1, '#'));
  EXPECT_EQ(list->Read().status().code(), Code::kInvalid);
}

TEST(FleetList, WhatIsNoneIsSaid) {
  EXPECT_FALSE(FleetList::Parse("").ok());
  EXPECT_FALSE(FleetList::Parse("@").ok());
  EXPECT_FALSE(FleetList::Parse("a").ok());
}

}  // namespace
}  // namespace augur
