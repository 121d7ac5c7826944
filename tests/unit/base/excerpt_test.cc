// SPDX-License-Identifier: Apache-2.0
#include "base/excerpt.h"

#include <gtest/gtest.h>

#include <limits>

namespace augur {
namespace {

TEST(Excerpt, KeepsWhatIsShortAndEscapesIt) {
  EXPECT_EQ(Excerpt(""), "");
  EXPECT_EQ(Excerpt("a\n", 2), "a\\x0A");
}

TEST(Excerpt, CutsAndTellsTheLength) {
  EXPECT_EQ(Excerpt(std::string(4096, 'a'), 3), "aaa... (4,096 bytes)");
  EXPECT_EQ(Excerpt("abc\n", 3), "abc... (4 bytes)");
  EXPECT_EQ(Excerpt(std::string(1000, 'a')).size(), kExcerptBytesMax + std::string("... (1,000 bytes)").size());
}

TEST(Excerpt, CutsNoCharacterInTwo) {
  EXPECT_EQ(Excerpt("a猫b", 2), "a... (5 bytes)");
  EXPECT_EQ(Excerpt("a猫b", 3), "a... (5 bytes)");
  EXPECT_EQ(Excerpt("a猫b", 4), "a猫... (5 bytes)");
  EXPECT_EQ(Excerpt("\x80\x80\x80\x80\x80\x80", 5), "\\x80\\x80... (6 bytes)");  // none is there
}

TEST(FormatCount, HasAMarkEveryThreeDigits) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(123456), "123,456");
  EXPECT_EQ(FormatCount(std::numeric_limits<uint64_t>::max()), "18,446,744,073,709,551,615");
}

}  // namespace
}  // namespace augur
