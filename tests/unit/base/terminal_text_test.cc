// SPDX-License-Identifier: Apache-2.0
#include "base/terminal_text.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(TerminalTextTest, LeavesWhatATerminalShows) {
  const std::string shown = "name\\x0a  Z\xc3\xbcrich \xe2\x82\xac\nsecond line\n";
  EXPECT_EQ(TerminalText(shown), shown);
  EXPECT_EQ(TerminalText(""), "");
}

TEST(TerminalTextTest, EscapesWhatATerminalObeys) {
  EXPECT_EQ(TerminalText("a\x1b]0;title\x07z"), "a\\x1B]0;title\\x07z");
  EXPECT_EQ(TerminalText("a\rb\tc\x7f"), "a\\x0Db\\x09c\\x7F");
  EXPECT_EQ(TerminalText("\xc2\x9b"
                         "31m"),
            "\\xC2\\x9B31m")
      << "the one-character form of ESC [";
  EXPECT_EQ(TerminalText("\xff"), "\\xFF");
  EXPECT_EQ(TerminalText(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(TerminalTextTest, ALineStaysOne) {
  EXPECT_EQ(TerminalLine("refused\naugurctl: all is well"), "refused\\x0Aaugurctl: all is well");
}

}  // namespace
}  // namespace augur
