// SPDX-License-Identifier: Apache-2.0
#include "s3/ini_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace augur {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

IniSections Read(const std::string& text) {
  Result<IniSections> sections = ParseIni(text);
  EXPECT_TRUE(sections.ok()) << sections.status().text();
  return sections.ok() ? *sections : IniSections();
}

std::string ErrorOf(const std::string& text) {
  const Result<IniSections> sections = ParseIni(text);
  EXPECT_FALSE(sections.ok()) << text;
  EXPECT_EQ(sections.status().code(), Code::kInvalid);
  return sections.status().text();
}

// Each case: what configparser.RawConfigParser of Python 3.11 makes of it.
TEST(ParseIni, ReadsSectionsAndKeys) {
  const IniSections sections = Read(
      "# comment\n[default]\nRegion = eu-west-1\n; another\nkey: v=1 ; no comment\r\nempty =\n\n[profile \"a "
      "b\"]\nx=y");
  EXPECT_THAT(sections, ElementsAre(Pair("default", ElementsAre(Pair("empty", ""), Pair("key", "v=1 ; no comment"),
                                                                Pair("region", "eu-west-1"))),
                                    Pair("profile \"a b\"", ElementsAre(Pair("x", "y")))));
}

TEST(ParseIni, KeepsIndentedLinesInTheValue) {
  const IniSections sections =
      Read("[s]\na = 1\n  more\n\tand more\nb =\n  # comment\n  c = 1\n\n  d = 2\ne = 3\n  [x]\n");
  EXPECT_THAT(sections, ElementsAre(Pair("s", ElementsAre(Pair("a", "1\nmore\nand more"), Pair("b", "\nc = 1\n\nd = 2"),
                                                          Pair("e", "3\n[x]")))));
}

TEST(ParseIni, TakesAnEmptyFile) { EXPECT_TRUE(Read("").empty()); }

TEST(ParseIni, RefusesWithTheLineAndWithoutTheValue) {
  EXPECT_THAT(ErrorOf("[a]\n\nhello\n"), HasSubstr("line 3: it is neither"));
  EXPECT_THAT(ErrorOf("k = s3cret\n"), HasSubstr("line 1: it stands before the first [section]"));
  EXPECT_THAT(ErrorOf("[a]\n[a]\n"), HasSubstr("line 2: section [a] is there twice"));
  EXPECT_THAT(ErrorOf("[a]\nk = s3cret\nK = s3cret\n"), HasSubstr("line 3: key 'k' is there twice"));
  EXPECT_THAT(ErrorOf("[a]\nk = s3cret\nK = s3cret\n"), Not(HasSubstr("s3cret")));
  EXPECT_THAT(ErrorOf("[a]\n= s3cret\n"), HasSubstr("without a key"));
  EXPECT_THAT(ErrorOf(std::string("[a]\nk = \0\n", 9)), HasSubstr("no text"));
}

TEST(ParseIniBlock, ReadsOneLevel) {
  EXPECT_THAT(ParseIniBlock("\nendpoint_url = http://h\n\nx=1"),
              ElementsAre(Pair("endpoint_url", "http://h"), Pair("x", "1")));
}

}  // namespace
}  // namespace augur
