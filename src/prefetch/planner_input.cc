// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner_input.h"

#include <utility>

namespace augur {

PlannerInput::PlannerInput(FileTable files, DiskModel& disk_model, const PlannerLimits& limits_of_all,
                           const ReaderPositionOptions& progress)
    : limits(limits_of_all),
      schedule(std::move(files)),
      reader(schedule, progress),
      disk(disk_model),
      regions(schedule, limits.chunk_bytes_max),
      mode(disk, regions) {
  if (limits.file_bytes_max == 0) limits.file_bytes_max = limits.staging_bytes_max / 8;
}

Position PlannerInput::NextUnread(Slot slot) const {
  Position use = schedule.NextUse(slot, reader.tail());
  while (use != kNever && reader.WasRead(use)) use = schedule.NextUse(slot, use + 1);
  return use;
}

bool PlannerInput::IsSentinel(Position position) const {
  return limits.sentinel_every > 0 && position % limits.sentinel_every == limits.sentinel_every - 1;
}

bool PlannerInput::IsTooLong(const FilePlace& place) const {
  return std::max(place.bytes, place.record_bytes) > limits.file_bytes_max;
}

}  // namespace augur
