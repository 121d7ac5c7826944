// SPDX-License-Identifier: Apache-2.0
#include "pack/shallow_json.h"

#include <gtest/gtest.h>

#include <string>

namespace augur {
namespace {

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ShallowJson, TakesWhatNestsAHundredDeep) {
  EXPECT_TRUE(ParseShallowJson(Nested(100)).is_array());
  EXPECT_TRUE(ParseShallowJson(Nested(101)).is_discarded());
  EXPECT_TRUE(ParseShallowJson(Nested(1000000)).is_discarded());
  EXPECT_TRUE(ParseShallowJson("{\"a\":" + Nested(99) + "}").is_object());
  EXPECT_TRUE(ParseShallowJson("{\"a\":" + Nested(100) + "}").is_discarded());
}

TEST(ShallowJson, CountsNoBracketsBehindEachOther) {
  std::string text = "[";
  for (int i = 0; i < 500; ++i) text += "[],{},";
  EXPECT_EQ(ParseShallowJson(text + "0]").size(), 1001U);
}

TEST(ShallowJson, CountsNoBracketsInTexts) {
  const std::string brackets(500, '[');
  EXPECT_EQ(ParseShallowJson("{\"a\": \"" + brackets + "\"}")["a"], brackets);
  EXPECT_EQ(ParseShallowJson(R"({"a\"": "\\", "b": "\"[)" + brackets + "\"}").size(), 2U);
}

TEST(ShallowJson, SaysWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,", "\"", "\"\\", "nothing", "]]]]"}) {
    EXPECT_TRUE(ParseShallowJson(text).is_discarded()) << text;
  }
}

}  // namespace
}  // namespace augur
