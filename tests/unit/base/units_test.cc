// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(ParseSize, TakesPowersOf1024) {
  EXPECT_EQ(*ParseSize("0"), 0u);
  EXPECT_EQ(*ParseSize("4095"), 4095u);
  EXPECT_EQ(*ParseSize("1K"), 1024u);
  EXPECT_EQ(*ParseSize("512m"), 512u * 1024 * 1024);
  EXPECT_EQ(*ParseSize("3G"), 3ull * 1024 * 1024 * 1024);
  EXPECT_EQ(*ParseSize("2T"), 2ull << 40);
}

TEST(ParseSize, RefusesAndEchoesTheText) {
  for (const char* bad : {"", "x", "1.5G", "-1", "12MB", "1 K", "18446744073709551616", "99999999999T", "K"}) {
    const auto size = ParseSize(bad);
    ASSERT_FALSE(size.ok()) << bad;
    EXPECT_EQ(size.status().code(), Code::kInvalid);
    EXPECT_NE(size.status().text().find("'" + std::string(bad) + "'"), std::string::npos) << size.status().text();
  }
}

TEST(FormatSize, IsForPeople) {
  EXPECT_EQ(FormatSize(1), "1 byte");
  EXPECT_EQ(FormatSize(1023), "1023 bytes");
  EXPECT_EQ(FormatSize(1536), "1.5 KiB");
  EXPECT_EQ(FormatSize(5ull << 30), "5.0 GiB");
}

TEST(Printable, KeepsUtf8AndEscapesTheRest) {
  EXPECT_EQ(Printable("n01440764/été.JPEG"), "n01440764/été.JPEG");
  EXPECT_EQ(Printable("猫.png"), "猫.png");
  EXPECT_EQ(Printable("a\nb\\c"), "a\\x0Ab\\x5Cc");
  EXPECT_EQ(Printable("\xff\xc3("), "\\xFF\\xC3(");
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xC0\\xAF");  // overlong
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\xC2\\x9B31m");  // C1 control: a terminal would obey it
}

}  // namespace
}  // namespace augur
