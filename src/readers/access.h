// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "datasets/order.h"

namespace augur {

// One thing seen of a reader.
struct Access {
  EntryNumber file = 0;
  uint32_t view = 0;  // of the mount, in which it was read
  // Id of the thread in the daemon's pid namespace, as in the header of the FUSE request; 0: not known.
  uint32_t reader = 0;
  // A READ that the page cache could not serve; otherwise an open, of which only the file is known.
  bool read = false;
  // CLOCK_BOOTTIME, to which the start times of processes refer.
  uint64_t time_us = 0;
};

}  // namespace augur
