// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "datasets/order.h"

namespace augur {

// An order with files that are needed along with those of the order, because some of their bytes are. Each stands right
// before the file for which it is needed, and no reader asks for it at this place.
struct NeighbourOrder {
  Order files;
  std::vector<bool> beside;  // by place: it is needed for the next file that is not. Empty: none is
};

}  // namespace augur
