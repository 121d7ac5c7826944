// SPDX-License-Identifier: Apache-2.0
#include "predict/followed_order.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "samplers/rank_subset.h"

namespace augur {
namespace {

TEST(FollowedOrderTest, WhatIsReadIsWhatWasWritten) {
  FollowedOrder order;
  order.rule = "torchvision ImageFolder";
  order.root = "a \"b\"/\n";
  order.samplers = {"torch-fresh seed 7 step 1 epoch 9"};
  order.epoch = 9;
  order.step = 2;
  order.share = {
      .kind = RankSubset::Kind::kSlices, .world_size = 4, .ranks = {1, 3}, .batch = 32, .begin = 0, .end = 0};
  order.continues = true;
  order.seed = 7;
  order.offset = 2;
  order.what = "torch RandomSampler, seed 0x7";
  const FollowedOrder read = ParseFollowed(RenderFollowed(order)).value_or(FollowedOrder());
  EXPECT_EQ(read.root, order.root);
  EXPECT_EQ(read.share.ranks, order.share.ranks);
  EXPECT_EQ(read.share.batch, 32U);
  EXPECT_EQ(read.seed, 7U);
  EXPECT_EQ(read.step, 2U);
  EXPECT_EQ(RenderFollowed(read), RenderFollowed(order));
}

TEST(FollowedOrderTest, AShareThatCannotBeIsNone) {
  const auto is_read = [](RankSubset share) {
    FollowedOrder order;
    order.share = std::move(share);
    return ParseFollowed(RenderFollowed(order)).has_value();
  };
  EXPECT_TRUE(is_read({}));
  EXPECT_FALSE(is_read({.world_size = 0}));
  EXPECT_FALSE(is_read({.world_size = 2, .ranks = {2}}));
  EXPECT_FALSE(is_read({.world_size = 2, .ranks = {}}));
  EXPECT_FALSE(is_read({.world_size = uint64_t{1} << 60, .ranks = {1}}));
  EXPECT_FALSE(is_read({.kind = RankSubset::Kind::kBatches, .world_size = 2, .ranks = {1}, .batch = 0}));
  EXPECT_FALSE(is_read({.kind = RankSubset::Kind::kSlices, .world_size = 4, .ranks = {1}, .batch = 6}));
  EXPECT_FALSE(is_read({.kind = RankSubset::Kind::kPiece, .world_size = 2, .begin = 5, .end = 5}));
  EXPECT_FALSE(is_read({.kind = RankSubset::Kind::kPiece, .world_size = 1, .begin = 0, .end = 5}));
  EXPECT_TRUE(is_read({.kind = RankSubset::Kind::kPiece, .world_size = 2, .begin = 0, .end = 5}));
  EXPECT_FALSE(is_read({.world_size = 4, .ranks = {1, 1}}));
  EXPECT_FALSE(is_read({.kind = static_cast<RankSubset::Kind>(9)}));
}

TEST(FollowedOrderTest, ANumberIsWholeAndNotBelowZero) {
  const std::string text = RenderFollowed({});
  const size_t at = text.find("\"epoch\":0");
  ASSERT_NE(at, std::string::npos) << text;
  for (const std::string number : {"-1", "0.5", "1e300", "true", "\"0\""}) {
    EXPECT_FALSE(ParseFollowed(text.substr(0, at) + "\"epoch\":" + number + text.substr(at + 9))) << number;
  }
  EXPECT_TRUE(ParseFollowed(text));
}

}  // namespace
}  // namespace augur
