// SPDX-License-Identifier: Apache-2.0
#include "fs/lasting_views.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "fs/view_table.h"

namespace augur {
namespace {

constexpr uint32_t kUser = 1000;

class LastingViewsTest : public testing::Test {
 protected:
  // Zero, as the memory of a holder is.
  const std::unique_ptr<LastingViews> lasting_ = std::make_unique<LastingViews>();

  // What a new daemon makes.
  std::unique_ptr<ViewTable> Table() { return std::make_unique<ViewTable>(std::nullopt, kUser, lasting_.get()); }

  static uint32_t NumberOf(ViewTable& table, const std::string& spec, uint64_t nodes = 1) {
    const Result<ViewRef> view = table.Find(spec, nodes, kUser);
    EXPECT_TRUE(view.ok()) << view.status().text();
    return view.ok() ? (*view)->number : 0;
  }
};

TEST_F(LastingViewsTest, ViewsKeepTheirNumbers) {
  uint32_t first = 0;
  uint32_t second = 0;
  {
    const auto table = Table();
    first = NumberOf(*table, "npy+size=32");
    second = NumberOf(*table, "pixels");
  }
  const auto table = Table();
  ASSERT_NE(table->Get(first), nullptr);
  EXPECT_EQ(table->Get(first)->text, ViewTable(std::nullopt).Find("npy+size=32").value()->text);
  // Asked for in another order, and in another spelling.
  EXPECT_EQ(NumberOf(*table, "pixels"), second);
  EXPECT_EQ(NumberOf(*table, "size=32+npy"), first);
  EXPECT_EQ(table->All().size(), 2U);
}

TEST_F(LastingViewsTest, NoNumberIsGivenTwice) {
  uint32_t unknown = 0;  // to the kernel, which never got a node of it
  {
    const auto table = Table();
    unknown = NumberOf(*table, "npy", 0);
  }
  const auto table = Table();
  EXPECT_EQ(table->Get(unknown), nullptr);
  EXPECT_NE(NumberOf(*table, "pixels"), unknown);
}

TEST_F(LastingViewsTest, NodesAreCountedOnWhereTheyWere) {
  uint32_t number = 0;
  {
    const auto table = Table();
    number = NumberOf(*table, "npy", 2);
    table->Know(number, 3);
    table->Forget(number, 1);
  }
  const auto table = Table();
  table->Forget(number, 3);
  EXPECT_EQ(lasting_->records[0].number, number);
  EXPECT_EQ(lasting_->records[0].nodes, 1U);
}

// A view whose place is needed for another one is not there for the next daemon.
TEST_F(LastingViewsTest, WhatIsDroppedIsForgotten) {
  const auto table = Table();
  const uint32_t first = NumberOf(*table, "npy+crop=1");
  table->Forget(first, 1);
  for (size_t i = 1; i <= ViewTable::kViewsMax; ++i) {
    const uint32_t number = NumberOf(*table, "npy+crop=" + std::to_string(i + 1));
    table->Forget(number, 1);
  }
  EXPECT_EQ(table->Get(first), nullptr);
  EXPECT_EQ(Table()->Get(first), nullptr);
}

TEST_F(LastingViewsTest, ANameThatIsTooLongIsNotWrittenDown) {
  const std::string name(LastingViews::kNameBytesMax, 'x');
  EXPECT_EQ(lasting_->Add(1, kUser, 1, name), nullptr);
  EXPECT_NE(lasting_->Add(1, kUser, 1, name.substr(1)), nullptr);
}

}  // namespace
}  // namespace augur
