// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner_input.h"

#include <utility>

namespace augur {
namespace {

// At 30 ms and 200 MB/s, 16 requests of 1 MiB fill the line (12 do nearly). With 24 MiB they wait for each other: of
// what is in flight, each takes its share of the line, and the 256th file of an epoch comes after 2.1 s in place of 1.6
// s. Nor may it be less, whatever the model says: a server that answers late would be taken for slow, and asked for
// less.
constexpr uint64_t kFarUnderWayBytes = 16 << 20;
// At 30 ms a request of 110 KB takes 46 ms on a connection that is warm, and one of 1 MiB 49 ms (measured).
constexpr uint64_t kFarUrgentBytes = 1 << 20;

}  // namespace

void PlannerLimits::SetFar() {
  urgent_under_way_us = under_way_us;
  unknown_under_way_us = under_way_us;
  under_way_bytes_min = kFarUnderWayBytes;
  urgent_bytes_min = kFarUrgentBytes;
  aligned = true;
  reads_all_files = true;
  regions = false;  // none of the requests waits for a seek
}

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
