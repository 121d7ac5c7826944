// SPDX-License-Identifier: Apache-2.0
#include "tools/mount_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MountOptionsTest, WordsArePartedByCommas) {
  EXPECT_THAT(SplitMountOptions("ro,memory=1G,allow_other"), ElementsAre("ro", "memory=1G", "allow_other"));
}

TEST(MountOptionsTest, EmptyWordsAreLeftOut) {
  EXPECT_THAT(SplitMountOptions(""), IsEmpty());
  EXPECT_THAT(SplitMountOptions(",,ro,"), ElementsAre("ro"));
}

TEST(MountOptionsTest, AnEscapedCommaIsWithinAWord) {
  EXPECT_THAT(SplitMountOptions(R"(log=/tmp/a\,b,ro)"), ElementsAre("log=/tmp/a,b", "ro"));
}

TEST(MountOptionsTest, AnEscapedBackslashIsABackslash) {
  EXPECT_THAT(SplitMountOptions(R"(log=a\\,ro)"), ElementsAre(R"(log=a\)", "ro"));
}

TEST(MountOptionsTest, AnotherBackslashIsItself) {
  EXPECT_THAT(SplitMountOptions(R"(log=a\040b)"), ElementsAre(R"(log=a\040b)"));
  EXPECT_THAT(SplitMountOptions(R"(log=a\)"), ElementsAre(R"(log=a\)"));
}

}  // namespace
}  // namespace augur
