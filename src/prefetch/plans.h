// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/order.h"
#include "prefetch/file_table.h"

namespace augur {

// The decisions of Planner.

// What to do with a file whose bytes have come: first evict others from the retained cache, then put this one in.
struct RetainPlan {
  bool retain = false;
  std::vector<EntryNumber> evict;
};

struct ReadPlan {
  struct Item {
    EntryNumber file = 0;
    FilePlace place;
  };
  uint64_t id = 0;
  uint32_t shard = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::vector<Item> items;  // by offset; what lies between them is read for nothing
  bool urgent = false;
  uint64_t begun_us = 0;
};

struct Arrival {
  RetainPlan retain;
  bool hold = true;   // in the staging; false: let it go once it is kept
  bool copy = false;  // hold a copy of its own: it will stay longer than its neighbours in the chunk
};

// The kernel is being asked for a file, which it will likely know then; or it has been.
enum class StatPhase { kBegun, kEnded };

struct PushPlan {
  EntryNumber file = 0;
  uint64_t bytes = 0;
};

}  // namespace augur
