// SPDX-License-Identifier: Apache-2.0
#include "fuse/fusermount.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

// What fuse(8) says of commas in values: "\," and, for a backslash, "\\".
TEST(EscapeMountOption, EscapesCommasAndBackslashesOnly) {
  EXPECT_EQ(EscapeMountOption("/data/store"), "/data/store");
  EXPECT_EQ(EscapeMountOption("/a,b\\c d=\xff"), "/a\\,b\\\\c d=\xff");
  EXPECT_EQ(EscapeMountOption(""), "");
}

}  // namespace
}  // namespace augur
