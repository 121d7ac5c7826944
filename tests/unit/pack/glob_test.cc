// SPDX-License-Identifier: Apache-2.0
#include "pack/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace augur {
namespace {

bool Matches(const std::string& pattern, const std::string& path) {
  const Result<Glob> glob = Glob::Parse(pattern);
  EXPECT_TRUE(glob.ok()) << pattern;
  return glob.ok() && glob->Matches(path);
}

TEST(Glob, WithoutASlashTheLastComponentCounts) {
  EXPECT_TRUE(Matches("*.jpg", "a.jpg"));
  EXPECT_TRUE(Matches("*.jpg", "train/n01/a.jpg"));
  EXPECT_FALSE(Matches("*.jpg", "a.jpg/b"));
  EXPECT_FALSE(Matches("*.jpg", "a.JPG"));
  EXPECT_TRUE(Matches("a?c", "x/abc"));
  EXPECT_FALSE(Matches("a?c", "x/ac"));
  EXPECT_TRUE(Matches("*", "x/.hidden"));
}

TEST(Glob, WithASlashTheWholePathCountsAndStarsStopAtSlashes) {
  EXPECT_TRUE(Matches("train/*.jpg", "train/a.jpg"));
  EXPECT_FALSE(Matches("train/*.jpg", "train/n01/a.jpg"));
  EXPECT_FALSE(Matches("train/*.jpg", "x/train/a.jpg"));
  EXPECT_FALSE(Matches("a?b/c", "a/b/c"));
  EXPECT_TRUE(Matches("/a.jpg", "a.jpg"));
  EXPECT_FALSE(Matches("/a.jpg", "x/a.jpg"));
  EXPECT_TRUE(Matches("val/", "x/val"));  // the slash at the end means nothing more
}

TEST(Glob, DeepStarsCrossSlashes) {
  EXPECT_TRUE(Matches("train/**.jpg", "train/n01/a.jpg"));
  EXPECT_TRUE(Matches("train/**", "train/n01/a.jpg"));
  EXPECT_TRUE(Matches("train/**/a.jpg", "train/a.jpg"));
  EXPECT_TRUE(Matches("train/**/a.jpg", "train/x/y/a.jpg"));
  EXPECT_FALSE(Matches("train/**/a.jpg", "train/xa.jpg"));
  EXPECT_TRUE(Matches("**/a.jpg", "a.jpg"));
  EXPECT_TRUE(Matches("**/a.jpg", "x/a.jpg"));
  EXPECT_FALSE(Matches("**/a.jpg", "xa.jpg"));
}

TEST(Glob, SetsAndEscapes) {
  EXPECT_TRUE(Matches("n[0-9][0-9]", "n07"));
  EXPECT_FALSE(Matches("n[0-9]", "nx"));
  EXPECT_TRUE(Matches("[!a-c]x", "dx"));
  EXPECT_FALSE(Matches("[!a-c]x", "bx"));
  EXPECT_TRUE(Matches("[]x]", "]"));
  EXPECT_TRUE(Matches("\\*", "*"));
  EXPECT_FALSE(Matches("\\*", "a"));
  EXPECT_FALSE(Matches("a[!x]b/c", "a/b/c"));  // a set never matches a slash
}

TEST(Glob, BytesThatAreNoTextMatchLikeOthers) {
  EXPECT_TRUE(Matches("*\xff.jpg", "a\xfe\xff.jpg"));
  EXPECT_TRUE(Matches("?", "\xff"));
}

TEST(Glob, HardPatternsTakeNoTime) {
  // A matcher that tries every way would not come back from this one.
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(Matches(pattern + "b", std::string(4000, 'a')));
}

TEST(Glob, RefusesWhatIsNoPattern) {
  for (const char* bad : {"", "/", "[abc", "a\\"}) EXPECT_FALSE(Glob::Parse(bad).ok()) << bad;
  const auto filter = PathFilter::Make({"ok"}, {"[x"});
  ASSERT_FALSE(filter.ok());
  EXPECT_EQ(filter.status().text(), "--exclude '[x': '[' without ']'");
}

TEST(PathFilter, ExcludeWins) {
  const auto filter = PathFilter::Make({"*.jpg", "*.png"}, {"bad*", "tmp/**"});
  ASSERT_TRUE(filter.ok());
  EXPECT_TRUE(filter->TakesFile("x/a.jpg"));
  EXPECT_FALSE(filter->TakesFile("x/a.gif"));
  EXPECT_FALSE(filter->TakesFile("x/bad.jpg"));
  EXPECT_FALSE(filter->TakesFile("tmp/a.jpg"));
  EXPECT_TRUE(filter->TakesFolder("x"));
  EXPECT_FALSE(filter->TakesFolder("x/bad"));
  EXPECT_TRUE(filter->drops_empty_folders());
  EXPECT_TRUE(PathFilter().TakesFile("anything"));
}

}  // namespace
}  // namespace augur
