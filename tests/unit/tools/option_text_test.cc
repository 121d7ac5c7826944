// SPDX-License-Identifier: Apache-2.0
#include "tools/option_text.h"

#include <gtest/gtest.h>

#include "base/nearest.h"

namespace augur {
namespace {

TEST(OptionTextTest, SizesAreWrittenAsOneWouldTypeThem) {
  EXPECT_EQ(SizeText(0), "0");
  EXPECT_EQ(SizeText(513), "513");
  EXPECT_EQ(SizeText(4096), "4K");
  EXPECT_EQ(SizeText(uint64_t{1536} * 1024), "1536K");
  EXPECT_EQ(SizeText(uint64_t{16} << 40), "16T");
  EXPECT_EQ(SizeText(uint64_t{1} << 50), "1024T");
}

TEST(OptionTextTest, AlternativesReadAsASentence) {
  EXPECT_EQ(Alternatives({"a"}), "a");
  EXPECT_EQ(Alternatives({"a", "b"}), "a or b");
  EXPECT_EQ(Alternatives({"a", "b", "c"}), "a, b or c");
}

TEST(OptionTextTest, WrappedLinesKeepToTheWidthAndTheIndent) {
  EXPECT_EQ(Wrap("aa bb cc", 2, 7), "  aa bb\n  cc\n");
  EXPECT_EQ(Wrap("aa\nbb", 0, 79), "aa\nbb\n");
  EXPECT_EQ(Wrap("", 4), "");
  // A word that is longer than a line stands alone.
  EXPECT_EQ(Wrap("a bbbbbbbbbb c", 0, 5), "a\nbbbbbbbbbb\nc\n");
  EXPECT_EQ(Wrap("  aa bb\ncc dd", 1, 6), "   aa\n     bb\n cc dd\n");
}

TEST(OptionTextTest, TheNearestWordIsOneSlipAway) {
  EXPECT_EQ(NearestWord("memroy", {"memory", "umask"}), "memory");
  EXPECT_EQ(NearestWord("exclud", {"include", "exclude"}), "exclude");
  EXPECT_EQ(NearestWord("zzzzzz", {"memory", "umask"}), "");
  EXPECT_EQ(NearestWord("", {"memory"}), "");
  EXPECT_EQ(NearestWord(std::string(100, 'm'), {"memory"}), "");
}

}  // namespace
}  // namespace augur
