// SPDX-License-Identifier: Apache-2.0
#include "datasets/order_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "unit/datasets/order_fixture.h"

namespace augur {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OrderFileTest : public OrderTest {
 protected:
  void SetUp() override {
    OrderTest::SetUp();
    Make({"a/1.jpg", "a/2.jpg", "b/3 with spaces.jpg", "17", "no\xFFutf8", "empty"},
         {{"link", "a/1.jpg"}, {"away", "/etc/passwd"}});
  }

  Result<Order> Parse(std::string_view text, const OrderFileOptions& options = {}, size_t chunk = 1 << 20) const {
    PathOrder path_order(opened_);
    OrderFileParser parser(opened_, &path_order, options);
    for (size_t at = 0; at < text.size(); at += chunk) AUGUR_TRY(parser.Feed(text.substr(at, chunk)));
    return parser.Finish();
  }

  std::vector<std::string> ParsedPaths(std::string_view text, const OrderFileOptions& options = {}) const {
    const Result<Order> order = Parse(text, options);
    EXPECT_TRUE(order.ok()) << order.status().text();
    return order.ok() ? Paths(*order) : std::vector<std::string>{};
  }

  std::string Failure(std::string_view text, const OrderFileOptions& options = {}) const {
    const Result<Order> order = Parse(text, options);
    return order.ok() ? "no failure" : order.status().text();
  }
};

TEST_F(OrderFileTest, PathsInAnyOfTheirSpellings) {
  EXPECT_THAT(ParsedPaths("a/2.jpg\n./a/1.jpg\r\n\n././17\n\r\nb/3 with spaces.jpg\nno\xFFutf8\nempty\na/2.jpg"),
              ElementsAre("a/2.jpg", "a/1.jpg", "17", "b/3 with spaces.jpg", "no\xFFutf8", "empty", "a/2.jpg"));
}

TEST_F(OrderFileTest, AbsolutePathsBelowTheMountPoint) {
  EXPECT_THAT(ParsedPaths("/mnt/data/a/2.jpg\na/1.jpg\n/mnt/data//17", {.mount_point = "/mnt/data"}),
              ElementsAre("a/2.jpg", "a/1.jpg", "17"));
  EXPECT_THAT(ParsedPaths("/a/2.jpg", {.mount_point = "/"}), ElementsAre("a/2.jpg"));
  EXPECT_EQ(
      Failure("/mnt/database/a/2.jpg", {.mount_point = "/mnt/data"}),
      "line 1: '/mnt/database/a/2.jpg': not below the mount point /mnt/data: write paths relative to the mount's root");
  EXPECT_THAT(Failure("/a/2.jpg"), HasSubstr("not below the mount point"));
}

// Path order: 17, a/1.jpg, a/2.jpg, b/3..., empty, no\xFF...; links do not count.
TEST_F(OrderFileTest, IndicesInPathOrder) {
  EXPECT_THAT(ParsedPaths("\n2\r\n0\n5\n2"), ElementsAre("a/2.jpg", "17", "no\xFFutf8", "a/2.jpg"));
  EXPECT_THAT(ParsedPaths("00003"), ElementsAre("b/3 with spaces.jpg"));
}

TEST_F(OrderFileTest, LinksAreFollowedWithinTheStore) {
  EXPECT_THAT(ParsedPaths("link\na/1.jpg"), ElementsAre("a/1.jpg", "a/1.jpg"));
  EXPECT_THAT(Failure("a/1.jpg\naway"), AllOf(StartsWith("line 2: 'away': "), HasSubstr("out of the mount")));
}

TEST_F(OrderFileTest, WhatIsWrongIsSaidByLine) {
  EXPECT_EQ(Failure("a/1.jpg\n\na/3.jpg\n"),
            "line 3: 'a/3.jpg': no such file in the mount: write paths of files, relative to the mount's root");
  EXPECT_THAT(Failure("a/1.jpg\na\n"), AllOf(StartsWith("line 2: 'a': "), HasSubstr("a folder")));
  EXPECT_EQ(Failure("6"), "line 1: '6': there are 6 files: write indices from 0 to 5");
  EXPECT_THAT(Failure("0\n99999999999999999999999999\n"), StartsWith("line 2: '9999999999"));
  EXPECT_THAT(Failure("a/\x1B[2J"), HasSubstr("'a/\\x1B[2J'"));
  EXPECT_THAT(Failure(" 3"), StartsWith("line 1: ' 3': no such file"));
}

TEST_F(OrderFileTest, AMixIsRefusedByLine) {
  EXPECT_EQ(Failure("\n1\na/1.jpg"),
            "line 3: 'a/1.jpg': not an index, but line 2 is one: write either paths or indices (\"./17\" for a file "
            "named 17)");
  EXPECT_EQ(Failure("a/1.jpg\n3\n"), "line 2: '3': an index, but line 1 is a path: write either paths or indices");
  // In a file of paths, digits that are a file's name are that file.
  EXPECT_THAT(ParsedPaths("a/1.jpg\n17\n"), ElementsAre("a/1.jpg", "17"));
}

TEST_F(OrderFileTest, NothingIsNoOrder) {
  for (const char* text : {"", "\n", "\r\n\n"})
    EXPECT_THAT(Failure(text), StartsWith("the order has no files")) << text;
}

TEST_F(OrderFileTest, HasLimits) {
  const OrderFileOptions two{.mount_point = {}, .lines_max = 2};
  EXPECT_EQ(Parse("1\n2\n", two)->size(), 2U);
  EXPECT_EQ(Parse("1\n2\n3\n", two).status().code(), Code::kNoSpace);
  EXPECT_THAT(Failure("1\n2\n3\n", two), StartsWith("line 3: over 2 files"));
  const std::string longest(OrderFileParser::kLineBytesMax, '/');
  EXPECT_THAT(Failure(longest), HasSubstr("not below the mount point"));
  EXPECT_THAT(Failure(longest + "/"), AllOf(StartsWith("line 1: "), HasSubstr("over 8192 bytes")));
  EXPECT_LT(Failure("a/1.jpg\n" + std::string(100'000, 'x')).size(), 400U);
}

TEST_F(OrderFileTest, ChunksMayEndAnywhere) {
  const std::string text = "./a/2.jpg\r\n\r\n/m/b/3 with spaces.jpg\nno\xFFutf8\n17";
  const OrderFileOptions options{.mount_point = "/m"};
  const Result<Order> whole = Parse(text, options);
  ASSERT_TRUE(whole.ok()) << whole.status().text();
  EXPECT_THAT(Paths(*whole), ElementsAre("a/2.jpg", "b/3 with spaces.jpg", "no\xFFutf8", "17"));
  for (size_t chunk = 1; chunk <= text.size(); ++chunk) {
    const Result<Order> pieces = Parse(text, options, chunk);
    ASSERT_TRUE(pieces.ok()) << chunk << ": " << pieces.status().text();
    EXPECT_EQ(*pieces, *whole) << chunk;
  }
}

// Whatever the bytes are: an order of files, or a failure with the number of a line.
TEST_F(OrderFileTest, RandomBytesNeverHurt) {
  using std::string_literals::operator""s;
  const std::string alphabet = "a/1.jpg\n\r0237 \xFF\0./"s;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string text(random() % 60, '\0');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    const Result<Order> order = Parse(text, {.mount_point = "/a", .lines_max = 8}, 1 + random() % 20);
    if (!order.ok()) {
      const std::string& failure = order.status().text();
      EXPECT_TRUE(failure.starts_with("line ") || failure.starts_with("the order has no files"))
          << failure << " (seed " << seed << ")";
      continue;
    }
    for (const EntryNumber number : *order) EXPECT_EQ(opened_->Get(number)->type, EntryType::kFile) << "seed " << seed;
  }
}

}  // namespace
}  // namespace augur
