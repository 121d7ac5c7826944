// SPDX-License-Identifier: Apache-2.0
#include "prefetch/neighbour_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NeighbourOrdersTest : public ::testing::Test {
 protected:
  std::vector<Order> RestFrom(Position front) const {
    std::vector<Order> rest;
    for (const SharedOrder& one : orders_.RestFrom(front)) rest.push_back(one->files());
    return rest;
  }

  NeighbourOrders orders_;
};

TEST_F(NeighbourOrdersTest, WhatWasPutInIsTakenOut) {
  orders_.Add(Shared({5, 9, 7}), Shared({4, 6, 5, 8, 9, 7}), 10, 16, 10);
  orders_.Add(Shared({9, 5}), Shared({8, 9, 6, 5}), 16, 20, 10);
  EXPECT_THAT(RestFrom(10), ElementsAre(Order{5, 9, 7}, Order{9, 5}));
  EXPECT_THAT(RestFrom(12), ElementsAre(Order{5, 9, 7}, Order{9, 5}));
  EXPECT_THAT(RestFrom(13), ElementsAre(Order{9, 7}, Order{9, 5}));
  EXPECT_THAT(RestFrom(15), ElementsAre(Order{7}, Order{9, 5}));
  EXPECT_THAT(RestFrom(16), ElementsAre(Order{9, 5}));
  EXPECT_THAT(RestFrom(18), ElementsAre(Order{5}));
  EXPECT_THAT(RestFrom(20), IsEmpty());
}

TEST_F(NeighbourOrdersTest, WhatWasReadIsForgotten) {
  for (Position begin = 0; begin < 100; begin += 2) {
    orders_.Add(Shared({1}), Shared({2, 1}), begin, begin + 2, begin);
    EXPECT_THAT(RestFrom(begin), ElementsAre(Order{1}));
  }
}

}  // namespace
}  // namespace augur
