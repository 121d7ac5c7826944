// SPDX-License-Identifier: Apache-2.0
#include "base/lasting_texts.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace augur {
namespace {

TEST(LastingTextsTest, WhatIsReadIsWhatWasWritten) {
  const auto texts = std::make_unique<LastingTexts>();
  LastingTexts::Text& text = texts->texts[3];
  EXPECT_EQ(text.Read(), "");
  text.Write(std::string("a\0b", 3));
  EXPECT_EQ(text.Read(), std::string("a\0b", 3));
  text.Write("c");
  EXPECT_EQ(text.Read(), "c");
  text.Clear();
  EXPECT_EQ(text.Read(), "");
  EXPECT_EQ(texts->texts[2].Read(), "");
}

TEST(LastingTextsTest, ATextThatIsTooLongLeavesNone) {
  const auto texts = std::make_unique<LastingTexts>();
  LastingTexts::Text& text = texts->texts.front();
  const std::string longest(LastingTexts::Text::kBytesMax, 'x');
  text.Write(longest);
  EXPECT_EQ(text.Read(), longest);
  text.Write(longest + "x");
  EXPECT_EQ(text.Read(), "");
}

TEST(LastingTextsTest, ASizeThatCannotBeIsNone) {
  const auto texts = std::make_unique<LastingTexts>();
  texts->texts.front().bytes = LastingTexts::Text::kBytesMax + 1;
  EXPECT_EQ(texts->texts.front().Read(), "");
}

}  // namespace
}  // namespace augur
