// SPDX-License-Identifier: Apache-2.0
#include "predict/run_lengths.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(RunLengthsTest, NothingIsSaidBeforeSomeJobsHaveEnded) {
  RunLengths lengths;
  EXPECT_FALSE(lengths.ExpectedSeconds(0).has_value());
  for (size_t i = 1; i < RunLengths::kEnough; ++i) lengths.Ended(32, 1);
  EXPECT_FALSE(lengths.ExpectedSeconds(3).has_value());
  lengths.Ended(32, 1);
  EXPECT_EQ(lengths.ExpectedSeconds(3), 1);
}

// A training among processes that read a few files each is none of them as soon as it has read more.
TEST(RunLengthsTest, WhoHasReadMoreIsNotExpectedToEnd) {
  RunLengths lengths;
  for (int i = 0; i < 1000; ++i) lengths.Ended(32, 0.5);
  EXPECT_EQ(lengths.ExpectedSeconds(32), 0.5);
  EXPECT_FALSE(lengths.ExpectedSeconds(33).has_value());
  for (size_t i = 0; i < RunLengths::kEnough; ++i) lengths.Ended(100'000, 3600);
  EXPECT_EQ(lengths.ExpectedSeconds(3), 0.5);
  EXPECT_EQ(lengths.ExpectedSeconds(33), 3600);
}

TEST(RunLengthsTest, TheOldestAreForgotten) {
  RunLengths lengths;
  for (size_t i = 0; i < RunLengths::kRemembered; ++i) lengths.Ended(32, 0.5);
  for (size_t i = 0; i < RunLengths::kRemembered; ++i) lengths.Ended(10, 0.1);
  EXPECT_FALSE(lengths.ExpectedSeconds(20).has_value());
  EXPECT_EQ(lengths.ExpectedSeconds(5), 0.1);
}

}  // namespace
}  // namespace augur
