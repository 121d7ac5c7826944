// SPDX-License-Identifier: Apache-2.0
#include "remote/content_range.h"

#include <gtest/gtest.h>

#include <string>

namespace augur {
namespace {

// The examples of RFC 9110, section 14.4, and a server that does not know the size.
TEST(ContentRange, ReadsTheExamplesOfTheStandard) {
  const ContentRange first = ParseContentRange("bytes 42-1233/1234").value_or(ContentRange{});
  EXPECT_EQ(first.begin, 42U);
  EXPECT_EQ(first.bytes, 1192U);
  EXPECT_EQ(first.total, 1234U);
  const ContentRange unknown = ParseContentRange("bytes 42-1233/*").value_or(ContentRange{});
  EXPECT_EQ(unknown.bytes, 1192U);
  EXPECT_FALSE(unknown.total.has_value());
}

TEST(ContentRange, TakesNothingElse) {
  for (const std::string text :
       {"", "bytes", "bytes ", "bytes */1234", "bytes 0-9", "bytes 0-9/", "bytes 0-9/9", "bytes 9-0/20",
        "bytes -1-9/20", "bytes 0-9/20 ", "items 0-9/20", "bytes 0-9/99999999999999999999999", "bytes 0x1-9/20"}) {
    EXPECT_FALSE(ParseContentRange(text).has_value()) << "'" << text << "'";
  }
}

TEST(ContentRange, TheRangeThatIsAskedForIsInclusive) {
  EXPECT_EQ(RangeHeader(0, 1), "bytes=0-0");
  EXPECT_EQ(RangeHeader(500, 500), "bytes=500-999");  // the second 500 bytes, RFC 9110, section 14.1.2
}

}  // namespace
}  // namespace augur
