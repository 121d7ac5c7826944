// SPDX-License-Identifier: Apache-2.0
#include "prefetch/view_orders.h"

#include <gtest/gtest.h>

#include <vector>

namespace augur {
namespace {

TEST(ViewOrdersTest, OfAViewThoseThatAreReadNextAreTaken) {
  ViewOrders orders;
  orders.Add(1, {10});
  orders.Add(1, {11});
  orders.Add(2, {20});
  orders.Add(1, {12});
  EXPECT_EQ(orders.next_view(), 1U);
  EXPECT_EQ(orders.Take(2), (std::vector<Order>{{20}}));
  EXPECT_EQ(orders.Take(2), std::vector<Order>());
  EXPECT_EQ(orders.Take(1), (std::vector<Order>{{10}, {11}, {12}}));
  EXPECT_TRUE(orders.empty());
}

TEST(ViewOrdersTest, WhatIsLeftOfAnOrderComesBeforeTheNext) {
  ViewOrders orders;
  orders.Add(2, {20});
  orders.Add(1, {12});
  orders.AddInFront(1, {{10}, {11}});
  EXPECT_EQ(orders.next_view(), 1U);
  EXPECT_EQ(orders.Take(2), (std::vector<Order>{{20}}));
  EXPECT_EQ(orders.Take(1), (std::vector<Order>{{10}, {11}, {12}}));
}

}  // namespace
}  // namespace augur
