// SPDX-License-Identifier: Apache-2.0
#include "prefetch/view_orders.h"

#include <gtest/gtest.h>

#include <vector>

#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

using Orders = std::vector<SharedOrder>;

TEST(ViewOrdersTest, OfAViewThoseThatAreReadNextAreTaken) {
  const Orders given = {Shared({10}), Shared({11}), Shared({12}), Shared({20})};
  ViewOrders orders;
  orders.Add(1, given[0]);
  orders.Add(1, given[1]);
  orders.Add(2, given[3]);
  orders.Add(1, given[2]);
  EXPECT_EQ(orders.next_view(), 1U);
  EXPECT_EQ(orders.Take(2), Orders{given[3]});
  EXPECT_EQ(orders.Take(2), Orders());
  EXPECT_EQ(orders.Take(1), (Orders{given[0], given[1], given[2]}));
  EXPECT_TRUE(orders.empty());
}

TEST(ViewOrdersTest, WhatIsLeftOfAnOrderComesBeforeTheNext) {
  const Orders given = {Shared({10}), Shared({11}), Shared({12}), Shared({20})};
  ViewOrders orders;
  orders.Add(2, given[3]);
  orders.Add(1, given[2]);
  orders.AddInFront(1, {given[0], given[1]});
  EXPECT_EQ(orders.next_view(), 1U);
  EXPECT_EQ(orders.Take(2), Orders{given[3]});
  EXPECT_EQ(orders.Take(1), (Orders{given[0], given[1], given[2]}));
}

// A view is read, epoch after epoch, that is never followed.
TEST(ViewOrdersTest, OfManyTheFirstGo) {
  Orders given;
  ViewOrders orders;
  for (EntryNumber file = 0; file < 2 * ViewOrders::kOrdersMax; ++file) {
    given.push_back(Shared({file}));
    orders.Add(1, given.back());
  }
  EXPECT_EQ(orders.Take(1), Orders(given.begin() + ViewOrders::kOrdersMax, given.end()));
}

}  // namespace
}  // namespace augur
