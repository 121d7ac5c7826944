// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>

#include "prefetch/file_states.h"
#include "prefetch/planner_input.h"
#include "unit/datasets/shared_order.h"

namespace augur {

// What the parts of the planner look at: files of one size, side by side in one shard, read in path order from the
// first one on. So a file's number is its slot, its rank on the disk and its position, too.
class PlannerParts {
 public:
  static constexpr uint64_t kFileBytes = 102'400;  // 25 pages

  PlannerParts(uint32_t files, const PlannerLimits& limits) : in(Place, disk, limits, {}) {
    Order order(files);
    std::iota(order.begin(), order.end(), 0U);
    in.schedule.Append(Shared(order));
    states.Meet();
  }
  static FilePlace Place(EntryNumber file) {
    return {.shard = 0, .offset = file * kFileBytes, .record_bytes = kFileBytes, .bytes = kFileBytes};
  }
  // A read of this file alone.
  static ReadPlan Read(EntryNumber file) {
    return {.id = 1, .offset = file * kFileBytes, .bytes = kFileBytes, .items = {{.file = file, .place = Place(file)}}};
  }
  void Hold(Slot slot) {
    states.staging().Hold(slot);
    states.Reclassify(slot);
  }
  void Push(Slot slot) {
    states.pages().pushed().Add(slot, in.NextUnread(slot), in.PagesOf(slot));
    states.Reclassify(slot);
  }
  void Retain(Slot slot) {
    states.retained().Add(slot, in.NextUnread(slot), in.PagesOf(slot));
    states.Reclassify(slot);
  }

  DiskModel disk;
  PlannerInput in;
  FileStates states{in};
};

}  // namespace augur
