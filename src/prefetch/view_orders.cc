// SPDX-License-Identifier: Apache-2.0
#include "prefetch/view_orders.h"

#include <algorithm>

namespace augur {

void ViewOrders::Add(uint32_t view, SharedOrder order) {
  if (orders_.size() >= kOrdersMax) orders_.pop_front();
  orders_.emplace_back(view, std::move(order));
}

void ViewOrders::AddInFront(uint32_t view, std::vector<SharedOrder> orders) {
  for (auto order = orders.rbegin(); order != orders.rend(); ++order) orders_.emplace_front(view, std::move(*order));
}

std::vector<SharedOrder> ViewOrders::Take(uint32_t view) {
  std::vector<SharedOrder> taken;
  const auto is_of_view = [view](const auto& item) { return item.first == view; };
  const auto begin = std::ranges::find_if(orders_, is_of_view);
  const auto end = std::find_if_not(begin, orders_.end(), is_of_view);
  for (auto item = begin; item != end; ++item) taken.push_back(std::move(item->second));
  orders_.erase(begin, end);
  return taken;
}

}  // namespace augur
