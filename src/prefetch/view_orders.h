// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "datasets/epoch_order.h"

namespace augur {

// ViewOrders are orders that are predicted of views of the mount that are not followed now, in the sequence in which
// they will be read. Not synchronized.
class ViewOrders {
 public:
  // A prediction says what a job reads for three epochs (JobPredictor::kAhead), so when as many as this wait, the first
  // of them have been read while another view was followed.
  static constexpr size_t kOrdersMax = 8;

  // Behind all others; the first one goes when kOrdersMax wait.
  void Add(uint32_t view, SharedOrder order);
  // Before all others.
  void AddInFront(uint32_t view, std::vector<SharedOrder> orders);
  // Takes out the first orders of the view, up to one of another view that comes between; none: there is none.
  std::vector<SharedOrder> Take(uint32_t view);
  void Clear() { orders_.clear(); }

  bool empty() const { return orders_.empty(); }
  // The view that is read next. REQUIRES: !empty().
  uint32_t next_view() const { return orders_.front().first; }

 private:
  // At most kOrdersMax, and the rests of the orders of one view.
  std::deque<std::pair<uint32_t, SharedOrder>> orders_;
};

}  // namespace augur
