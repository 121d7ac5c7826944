// SPDX-License-Identifier: Apache-2.0
#include "prefetch/view_orders.h"

#include <gtest/gtest.h>

#include <vector>

#include "prefetch/inactive_view_pages.h"

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

TEST(InactiveViewPagesTest, OfEachViewWhatWasPutLast) {
  InactiveViewPages aside(2);
  aside.Put(1, {true, false}, 100);
  aside.Put(2, {false, true}, 50);
  EXPECT_EQ(aside.BytesBeside(1), 50U);
  EXPECT_EQ(aside.BytesBeside(3), 150U);
  aside.Put(2, {true, true}, 70);
  EXPECT_EQ(aside.BytesBeside(1), 70U);
  EXPECT_EQ(aside.Take(2), (std::vector<bool>{true, true}));
  EXPECT_TRUE(aside.Take(2).empty());
  aside.Add(2, 1, 30);
  aside.Add(2, 1, 30);
  aside.Add(1, 1, 5);
  EXPECT_EQ(aside.BytesBeside(1), 30U);
  EXPECT_EQ(aside.BytesBeside(2), 105U);
  EXPECT_EQ(aside.Take(2), (std::vector<bool>{false, true}));
  EXPECT_EQ(aside.BytesBeside(3), 105U);
}

TEST(InactiveViewPagesTest, OfTooManyViewsTheOldAreForgotten) {
  InactiveViewPages aside(1);
  for (uint32_t view = 0; view < InactiveViewPages::kViewsMax; ++view) aside.Put(view, {true}, 1);
  EXPECT_EQ(aside.BytesBeside(99), InactiveViewPages::kViewsMax);
  aside.Put(50, {true}, 1);
  EXPECT_EQ(aside.BytesBeside(99), 1U);
  EXPECT_FALSE(aside.Take(50).empty());
}

}  // namespace
}  // namespace augur
