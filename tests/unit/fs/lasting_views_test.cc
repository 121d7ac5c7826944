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

// A look-up may wait for a table of archives, and the daemon before answers it when the next one counts already.
TEST_F(LastingViewsTest, WhatTheDaemonBeforeStillAnswersIsCounted) {
  const auto before = Table();
  const uint32_t number = NumberOf(*before, "tar");
  const auto next = Table();
  before->Know(number, 1);
  next->Forget(number, 1);
  EXPECT_EQ(lasting_->records[0].nodes, 1U);
  // So many others, of which the kernel has no node, that its place is needed.
  for (size_t i = 1; i <= ViewTable::kViewsMax; ++i) {
    next->Forget(NumberOf(*next, "npy+crop=" + std::to_string(i)), 1);
  }
  EXPECT_NE(next->Get(number), nullptr) << "the kernel has a node of it";
  next->Forget(number, 1);
  EXPECT_EQ(lasting_->records[0].nodes, 0U);
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

// Archives, and files with labels, are those of one generation, so another generation has another view.
TEST_F(LastingViewsTest, AViewWithArchivesIsOfOneGeneration) {
  uint32_t first = 0;
  uint32_t pairs = 0;
  uint32_t pixels = 0;
  const auto table_of = [&](uint64_t sequence, const char* root = nullptr) {
    const std::optional<ViewSpec> spec = root != nullptr ? std::optional(*ParseViewSpec(root)) : std::nullopt;
    return std::make_unique<ViewTable>(spec, kUser, lasting_.get(), sequence);
  };
  {
    const auto table = table_of(0);
    first = NumberOf(*table, "tar");
    pairs = NumberOf(*table, "pt+item=pair");
    pixels = NumberOf(*table, "pixels");
  }
  EXPECT_EQ(NumberOf(*table_of(0), "tar"), first);
  const auto table = table_of(1);
  EXPECT_EQ(NumberOf(*table, "pixels"), pixels);
  const uint32_t second = NumberOf(*table, "tar");
  EXPECT_NE(second, first);
  ASSERT_NE(table->Get(first), nullptr) << "the kernel has nodes of it";
  EXPECT_EQ(table->Get(first)->sequence, 0U);
  EXPECT_EQ(table->Get(second)->sequence, 1U);
  EXPECT_NE(NumberOf(*table, "pt+item=pair"), pairs);
  EXPECT_EQ(table->Get(pairs)->sequence, 0U);
  EXPECT_EQ(table->All().size(), 3U);
}

// The number of the root lasts as long as the mount, so its archives have another one.
TEST_F(LastingViewsTest, TheRootsArchivesHaveANumber) {
  const auto table_of = [&](uint64_t sequence) {
    return std::make_unique<ViewTable>(*ParseViewSpec("tar"), kUser, lasting_.get(), sequence);
  };
  uint32_t first = 0;
  {
    const auto table = table_of(0);
    EXPECT_EQ(table->root()->number, ViewTable::kRootNumber);
    first = table->root()->archives_number;
    EXPECT_NE(first, ViewTable::kRootNumber);
    ASSERT_NE(table->Get(first), nullptr);
    EXPECT_EQ(table->Get(first)->archives_number, first);
    table->Know(first, 1);
    EXPECT_EQ(table->All().size(), 1U);
  }
  EXPECT_EQ(table_of(0)->root()->archives_number, first) << "as no node is given, too";
  const auto next = table_of(1);
  EXPECT_NE(next->root()->archives_number, first);
  ASSERT_NE(next->Get(first), nullptr);
  EXPECT_EQ(next->Get(first)->sequence, 0U);
}

TEST_F(LastingViewsTest, ANameThatIsTooLongIsNotWrittenDown) {
  const std::string name(LastingViews::kNameBytesMax, 'x');
  EXPECT_EQ(lasting_->Add(1, {}, name), nullptr);
  EXPECT_NE(lasting_->Add(1, {}, name.substr(1)), nullptr);
}

}  // namespace
}  // namespace augur
