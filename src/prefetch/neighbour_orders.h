// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "datasets/epoch_order.h"
#include "prefetch/read_schedule.h"

namespace augur {

// NeighbourOrders remembers which orders were queued with more files than they have (ViewSource::WithNeighbours): when
// another view is followed, an order is handed on as it was told. Not synchronized.
class NeighbourOrders {
 public:
  // `with` is queued for `order`, and has the positions from `begin` to `end`. Before some files of the order it has
  // files that these are not. What ends at or before `front` is forgotten.
  void Add(SharedOrder order, SharedOrder with, Position begin, Position end, Position front);
  // What of the orders is not read yet when the reader is at `front`.
  std::vector<SharedOrder> RestFrom(Position front) const;

 private:
  struct Added {
    SharedOrder order;
    SharedOrder with;
    Position begin = 0;
    Position end = 0;
  };

  std::deque<Added> added_;
};

}  // namespace augur
