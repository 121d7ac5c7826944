// SPDX-License-Identifier: Apache-2.0
#include "datasets/file_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/datasets/order_fixture.h"

namespace augur {
namespace {

using ::testing::HasSubstr;

class FilePathTest : public OrderTest {
 protected:
  // The path of the file that is found, or "code name: text".
  std::string Find(std::string_view path) const {
    const Result<Entry> found = FindFile(*opened_, path);
    if (!found.ok()) return std::string(CodeName(found.status().code())) + ": " + found.status().text();
    return Paths({static_cast<EntryNumber>(found->number)}).front();
  }
};

TEST_F(FilePathTest, FollowsDotsAndSlashes) {
  Make({"a/b/x", "y"});
  EXPECT_EQ(Find("a/b/x"), "a/b/x");
  EXPECT_EQ(Find("./a//./b/x"), "a/b/x");
  EXPECT_EQ(Find("a/../y"), "y");
  EXPECT_EQ(Find("a/b/../../y"), "y");
  EXPECT_THAT(Find("../y"), HasSubstr("leads out of the mount"));
}

TEST_F(FilePathTest, FollowsLinksWithinTheStore) {
  Make({"a/x", "b/y"},
       {{"one", "a/x"}, {"a/up", "../b/y"}, {"folder", "b"}, {"chain", "a/up"}, {"deep/l", "../folder"}});
  EXPECT_EQ(Find("one"), "a/x");
  EXPECT_EQ(Find("a/up"), "b/y");
  EXPECT_EQ(Find("folder/y"), "b/y");
  EXPECT_EQ(Find("chain"), "b/y");
  EXPECT_EQ(Find("deep/l/y"), "b/y");
}

TEST_F(FilePathTest, RefusesLinksThatDoNotLeadToAFile) {
  Make({"a/x"}, {{"gone", "a/no"}, {"out", "../x"}, {"away", "/etc/pass\nwd"}, {"circle", "circle"}, {"folder", "a"}});
  EXPECT_THAT(Find("gone"), HasSubstr("leads nowhere"));
  EXPECT_THAT(Find("out"), HasSubstr("leads out of the mount"));
  EXPECT_THAT(Find("away"), HasSubstr("out of the mount, to /etc/pass\\x0Awd"));
  EXPECT_THAT(Find("circle"), HasSubstr("circle"));
  EXPECT_THAT(Find("folder"), HasSubstr("a folder"));
}

TEST_F(FilePathTest, RefusesWhatIsNoFile) {
  Make({"a/x"});
  EXPECT_THAT(Find("a/z"), HasSubstr("no such file"));
  EXPECT_THAT(Find("a/x/z"), HasSubstr("no such file"));
  EXPECT_THAT(Find("a"), HasSubstr("a folder"));
  EXPECT_THAT(Find(""), HasSubstr("a folder"));
}

}  // namespace
}  // namespace augur
