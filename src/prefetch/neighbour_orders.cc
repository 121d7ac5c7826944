// SPDX-License-Identifier: Apache-2.0
#include "prefetch/neighbour_orders.h"

#include <algorithm>
#include <utility>

namespace augur {
namespace {

// How many files of the order are among the first `reads` of what it was queued as.
uint64_t CountOf(const Order& order, const Order& with, uint64_t reads) {
  uint64_t count = 0;
  for (uint64_t read = 0; read < std::min<uint64_t>(reads, with.size()) && count < order.size(); ++read) {
    if (with[read] == order[count]) ++count;
  }
  return count;
}

}  // namespace

void NeighbourOrders::Add(SharedOrder order, SharedOrder with, Position begin, Position end, Position front) {
  while (!added_.empty() && added_.front().end <= front) added_.pop_front();
  added_.push_back({.order = std::move(order), .with = std::move(with), .begin = begin, .end = end});
}

std::vector<SharedOrder> NeighbourOrders::RestFrom(Position front) const {
  std::vector<SharedOrder> rest;
  for (const Added& one : added_) {
    if (one.end <= front) continue;
    const uint64_t read = front - std::min(front, one.begin);
    const uint64_t count = CountOf(one.order->files(), one.with->files(), read);
    if (count < one.order->size()) rest.push_back(PartOf(one.order, count));
  }
  return rest;
}

}  // namespace augur
