// SPDX-License-Identifier: Apache-2.0
#include "fs/errno_table.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

// SEMANTICS.md, Errors.
TEST(ErrnoOf, IsTheTableOfTheSemantics) {
  EXPECT_EQ(ErrnoOf(Code::kOk), 0);
  EXPECT_EQ(ErrnoOf(Code::kNotFound), ENOENT);
  EXPECT_EQ(ErrnoOf(Code::kCorrupt), EIO);
  EXPECT_EQ(ErrnoOf(Code::kIo), EIO);
  EXPECT_EQ(ErrnoOf(Code::kNoSpace), EIO);
  EXPECT_EQ(ErrnoOf(Code::kPermission), EACCES);
}

TEST(ErrnoOf, OfAFailureIsNeverSuccess) {
  for (int code = 1; code <= static_cast<int>(Code::kStopped); ++code)
    EXPECT_GT(ErrnoOf(static_cast<Code>(code)), 0) << code;
}

}  // namespace
}  // namespace augur
