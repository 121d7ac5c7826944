// SPDX-License-Identifier: Apache-2.0
#include "base/mount_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace augur {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// The example of proc(5), and rows with no, one and two optional fields.
TEST(ParseMountTable, ReadsTheFieldsAroundTheOptionalOnes) {
  const auto rows = ParseMountTable(
      "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
      "42 27 0:39 / /mnt/data ro,nosuid,nodev,relatime - fuse.augurfs /store ro,user_id=0,group_id=0\n"
      "43 27 0:40 / /mnt/both rw shared:5 master:2 - tmpfs none rw\n"
      "44 27 0:41 / /mnt/user ro - fuse.augurfs /store ro,user_id=1000,group_id=4294967294,allow_other\n");
  ASSERT_THAT(rows, SizeIs(4));
  EXPECT_EQ(rows[0].id, 36u);
  EXPECT_EQ(rows[0].root, "/mnt1");
  EXPECT_EQ(rows[0].options, "rw,noatime");
  EXPECT_EQ(rows[0].file_system_options, "rw,errors=continue");
  EXPECT_EQ(rows[3].root, "/");
  EXPECT_EQ(rows[0].device, "98:0");
  EXPECT_EQ(rows[0].mount_point, "/mnt2");
  EXPECT_EQ(rows[0].type, "ext3");
  EXPECT_EQ(rows[0].source, "/dev/root");
  EXPECT_EQ(rows[1].device, "0:39");
  EXPECT_EQ(rows[1].type, "fuse.augurfs");
  EXPECT_EQ(rows[1].source, "/store");
  EXPECT_EQ(rows[2].type, "tmpfs");
  EXPECT_EQ(rows[2].user, 0u);
  EXPECT_EQ(rows[3].user, 1000u);
  EXPECT_EQ(rows[3].group, 4294967294u);
}

TEST(ParseMountTable, UndoesOctalEscapes) {
  const auto rows = ParseMountTable(R"(1 2 0:3 / /a\040b\011c\012d\134e rw - fuse.augurfs /s\040t\043 rw)");
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].mount_point, "/a b\tc\nd\\e");
  EXPECT_EQ(rows[0].source, "/s t#");
}

TEST(ParseMountTable, KeepsABackslashThatIsNoEscape) {
  const auto rows = ParseMountTable(R"(1 2 0:3 / /a\9b\04 rw - tmpfs x\ rw)");
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].mount_point, R"(/a\9b\04)");
  EXPECT_EQ(rows[0].source, "x\\");
}

TEST(ParseMountTable, KeepsNamesThatAreNotUtf8AndThatLookLikeASeparator) {
  const auto rows = ParseMountTable("1 2 0:3 / /\xff- rw - tmpfs - rw\n");
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].mount_point, "/\xff-");
  EXPECT_EQ(rows[0].source, "-");
}

TEST(ParseMountTable, LeavesOutWhatIsNotARow) {
  for (const char* text : {"", "\n", "1 2 0:3 / /a rw", "1 2 0:3 / /a rw -", "1 2 0:3 / /a rw - tmpfs", "- - -",
                           "1 2 0:3 / /a rw master:1 tmpfs none rw"}) {
    EXPECT_THAT(ParseMountTable(text), IsEmpty()) << text;
  }
}

TEST(TopmostMount, IsTheLastOneMadeThere) {
  const auto rows = ParseMountTable(
      "1 0 8:1 / / rw - ext4 /dev/a rw\n"
      "2 1 0:5 / /mnt rw - tmpfs under rw\n"
      "3 2 0:6 / /mnt rw - fuse.augurfs over rw\n"
      "4 3 0:7 / /mnt/below rw - tmpfs below rw\n");
  ASSERT_NE(TopmostMount(rows, "/mnt"), nullptr);
  EXPECT_EQ(TopmostMount(rows, "/mnt")->source, "over");
  EXPECT_EQ(TopmostMount(rows, "/mnt/"), nullptr);
  EXPECT_EQ(TopmostMount(rows, "/mn"), nullptr);
  EXPECT_EQ(TopmostMount(rows, "/"), &rows[0]);
}

TEST(ReadMountTable, FindsTheRoot) {
  const auto rows = ReadMountTable();
  ASSERT_TRUE(rows.ok()) << rows.status().text();
  EXPECT_NE(TopmostMount(*rows, "/proc"), nullptr);
}

// What fuse(8) says of commas in values: "\," and, for a backslash, "\\".
TEST(EscapeMountOption, EscapesCommasAndBackslashesOnly) {
  EXPECT_EQ(EscapeMountOption("/data/store"), "/data/store");
  EXPECT_EQ(EscapeMountOption("/a,b\\c d=\xff"), "/a\\,b\\\\c d=\xff");
  EXPECT_EQ(EscapeMountOption(""), "");
}

}  // namespace
}  // namespace augur
