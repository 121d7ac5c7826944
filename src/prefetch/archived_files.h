// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "datasets/neighbour_order.h"
#include "datasets/order.h"

namespace augur {

// ArchivedFiles tells of a view whose images lie in archives: none of them is a file of its own, which could be opened
// or pushed. Safe from any thread. Implemented by src/fs.
class ArchivedFiles {
 public:
  virtual ~ArchivedFiles() = default;
  // What has to be read for an order of the view: its images, and before an image those beside it, some bytes of which
  // are in the same pages. The page cache has the pages of the last `cached` images. May take a microsecond for each
  // image of a folder, once.
  virtual NeighbourOrder WithNeighbours(uint32_t view, const Order& order, uint64_t cached) const = 0;
};

}  // namespace augur
