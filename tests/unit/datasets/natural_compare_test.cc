// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/python_order.h"

namespace augur {
namespace {

int Compare(std::string_view a, std::string_view b) { return NaturalCompare(a, false, b, false); }

// Sorted by timm 1.0.31: sorted(names, key=natural_key); no two keys are equal.
TEST(NaturalCompareTest, OrdersAsTimmDoes) {
  const std::vector<std::string> names = {"",
                                          "1.jpg",
                                          "2.jpg",
                                          "0010.jpg",
                                          "99999999999999999999999.jpg",
                                          " 1",
                                          "-x",
                                          "a",
                                          "a0",
                                          "A1",
                                          "a1b",
                                          "a2",
                                          "a10",
                                          "a10b2",
                                          "a10b11",
                                          "a.jpg",
                                          "aB",
                                          "abc",
                                          "z9z",
                                          "\xC3\xA9",
                                          "\xE7\x8C\xAB"};
  for (size_t a = 0; a < names.size(); ++a) {
    for (size_t b = 0; b < names.size(); ++b) {
      const int order = Compare(names[a], names[b]);
      EXPECT_EQ(order < 0, a < b) << names[a] << " and " << names[b];
      EXPECT_EQ(order > 0, a > b) << names[a] << " and " << names[b];
    }
  }
}

TEST(NaturalCompareTest, EqualKeysAreEqual) {
  EXPECT_EQ(Compare("a1", "A01"), 0);
  EXPECT_EQ(Compare("a00b1", "a0B001"), 0);
}

TEST(NaturalCompareTest, ACommonBeginningMayEndInANumberOrACharacter) {
  EXPECT_LT(Compare("x1009", "x10010"), 0);
  EXPECT_LT(Compare("x100", "x1000"), 0);
  EXPECT_EQ(Compare("x0001", "x001"), 0);
  EXPECT_LT(Compare("\xC3\xA9", "\xC3\xAA"), 0);  // é and ê differ in their last byte
}

TEST(NaturalCompareTest, AFolderCountsWithItsSlash) {
  EXPECT_GT(NaturalCompare("a", true, "a-b", true), 0);  // "a/" and "a-b/": '-' is below '/'
  EXPECT_LT(NaturalCompare("a", false, "a-b", false), 0);
  EXPECT_GT(NaturalCompare("a", true, "a0", true), 0);  // the run of digits begins below '/'
  EXPECT_EQ(NaturalCompare("A1", true, "a01", true), 0);
}

TEST(PythonLessTest, StrayBytesAreLoneSurrogates) {
  EXPECT_TRUE(PythonLess("a", "b"));
  EXPECT_FALSE(PythonLess("b", "a"));
  EXPECT_TRUE(PythonLess("a", "ab"));
  EXPECT_FALSE(PythonLess("ab", "a"));
  EXPECT_FALSE(PythonLess("a", "a"));
  EXPECT_TRUE(PythonLess("\xED\x9F\xBF", "\xFF"));          // U+D7FF, U+DCFF
  EXPECT_TRUE(PythonLess("\xFF", "\xEE\x80\x80"));          // U+DCFF, U+E000: the other way round by bytes
  EXPECT_TRUE(PythonLess("\x80", "\xF0\x9F\x90\x88"));      // U+DC80, U+1F408
  EXPECT_TRUE(PythonLess("\xE7\x8C\xAB", "\xE7\x8C"));      // U+732B; two stray bytes
  EXPECT_TRUE(PythonLess("\xED\xA0\x80", "\xEE\x80\x80"));  // a surrogate in UTF-8 is three stray bytes
}

TEST(PythonLessTest, OnlyUtf8IsUtf8) {
  for (const char* text : {"", "a", "\xC3\xA9", "\xF4\x8F\xBF\xBF"}) EXPECT_TRUE(IsUtf8(text)) << text;
  for (const char* text : {"\x80", "\xC0\x80", "\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80", "a\xFFz"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

}  // namespace
}  // namespace augur
