// SPDX-License-Identifier: Apache-2.0
#include "views/spec_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

namespace augur {
namespace {

// -1, which nobody can write: not a number.
float Parsed(const std::string& text) { return ParseSpecNumber(text).value_or(-1); }

TEST(SpecNumber, ReadsDecimalsOnly) {
  EXPECT_EQ(ParseSpecNumber("0.485"), 0.485F);
  EXPECT_EQ(ParseSpecNumber("1"), 1.0F);
  EXPECT_EQ(ParseSpecNumber("007.50"), 7.5F);
  for (const char* text :
       {"", ".", ".5", "5.", "-1", "+1", "1e3", "1e-3", "0x1", "inf", "nan", " 1", "1 ", "1,5", "1.2.3"}) {
    EXPECT_FALSE(ParseSpecNumber(text)) << text;
  }
  EXPECT_TRUE(ParseSpecNumber("0.1234567890123456789012"));
  EXPECT_FALSE(ParseSpecNumber("0.12345678901234567890123")) << "25 characters";
}

TEST(SpecNumber, ReadsByWayOfADoubleAsPythonDoes) {
  // 1 - 2^-25 is the middle between 1 - 2^-24 and 1, a tie that goes to 1. A little less than it is the lower one, but
  // a double cannot tell it from the middle.
  EXPECT_EQ(ParseSpecNumber("0.9999999701976776123046"), 1.0F);
  EXPECT_EQ(std::strtof("0.9999999701976776123046", nullptr), 0x1.FFFFFEp-1F);
}

TEST(SpecNumber, WritesTheShortestForm) {
  EXPECT_EQ(FormatSpecNumber(Parsed("0.50")), "0.5");
  EXPECT_EQ(FormatSpecNumber(Parsed("0.4850000000")), "0.485");
  EXPECT_EQ(FormatSpecNumber(Parsed("0.48500000001")), "0.485") << "the same float";
  EXPECT_EQ(FormatSpecNumber(Parsed("00")), "0");
  EXPECT_EQ(FormatSpecNumber(Parsed("1.0")), "1");
  EXPECT_EQ(FormatSpecNumber(Parsed("0.00000001")), "0.00000001");
}

TEST(SpecNumber, EveryFormReadsBack) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> digits(1, 22);
  std::uniform_int_distribution<int> digit(0, 9);
  for (int i = 0; i < 200'000; ++i) {
    std::string text = "0.";
    const int count = digits(random);
    const int zeros = i % 3 == 0 ? digits(random) : 0;
    for (int k = 0; k < count; ++k) text += static_cast<char>('0' + (k < zeros ? 0 : digit(random)));
    const float number = Parsed(text);
    ASSERT_EQ(number, static_cast<float>(std::strtod(text.c_str(), nullptr))) << text;
    const std::string formatted = FormatSpecNumber(number);
    ASSERT_EQ(ParseSpecNumber(formatted), number) << text;
    ASSERT_LE(formatted.size(), text.size()) << text;
  }
}

// Below a power of two the floats are twice as dense, so the decimal nearest to one may be its other neighbour's.
TEST(SpecNumber, PowersOfTwoReadBack) {
  for (int exponent = 0; exponent <= 73; ++exponent) {
    const float power = std::ldexp(1.0F, -exponent);
    for (const float number : {power, std::nextafterf(power, 0.0F), std::nextafterf(power, 1.0F)}) {
      for (int digits = 0; digits <= 22; ++digits) {
        char text[64];
        std::snprintf(text, sizeof text, "%.*f", digits, static_cast<double>(number));
        const float read = Parsed(text);
        ASSERT_GE(read, 0) << text;
        ASSERT_EQ(Parsed(FormatSpecNumber(read)), read) << text;
      }
    }
  }
}

}  // namespace
}  // namespace augur
