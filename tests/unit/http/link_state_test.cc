// SPDX-License-Identifier: Apache-2.0
#include "http/link_state.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

using std::chrono::seconds;

TEST(LinkState, IsDownAfterThreeAttemptsInARowWithoutAnAnswer) {
  LinkState link;
  const LinkState::Time begin{};
  link.OnNoAnswer(begin);
  link.OnNoAnswer(begin);
  EXPECT_FALSE(link.OnAnswer());
  link.OnNoAnswer(begin);
  link.OnNoAnswer(begin);
  EXPECT_FALSE(link.down());
  link.OnNoAnswer(begin + seconds(7));
  EXPECT_TRUE(link.down());
  EXPECT_EQ(link.down_since(), begin + seconds(7));
  link.OnNoAnswer(begin + seconds(8));
  EXPECT_EQ(link.down_since(), begin + seconds(7));
  EXPECT_TRUE(link.OnAnswer());
  EXPECT_FALSE(link.down());
}

TEST(LinkState, LetsOneRequestTryInFiveSeconds) {
  LinkState link;
  const LinkState::Time begin{};
  for (int i = 0; i < LinkState::kFailuresDown; ++i) link.OnNoAnswer(begin);
  EXPECT_FALSE(link.TakeProbe(begin + seconds(4)));
  EXPECT_TRUE(link.TakeProbe(begin + seconds(5)));
  EXPECT_FALSE(link.TakeProbe(begin + seconds(9)));
  EXPECT_TRUE(link.TakeProbe(begin + seconds(60)));
  EXPECT_FALSE(link.TakeProbe(begin + seconds(64)));
}

}  // namespace
}  // namespace augur
