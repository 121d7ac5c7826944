// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner_input.h"

#include <utility>

namespace augur {
namespace {

// 24 MB of large requests in flight fill four fifths of 200 MB/s at 30 ms, and twice as much nine tenths. With less the
// model would take the line to be slow, and ask for less still; with more, requests wait for each other: of what is in
// flight, each takes its share of the line. Who reads on demand does not wait: those requests go first.
constexpr double kFarUnderWayUs = 120'000;
// At 30 ms a request of 110 KB takes 46 ms on a connection that is warm, and one of 1 MiB 49 ms (measured).
constexpr uint64_t kFarUrgentBytes = 1 << 20;
// Many requests are under way at once, so one more costs a full line its headers, and the processor time of both ends:
// 0.1 to 0.2 ms, 20 to 40 KB at 200 MB/s.
constexpr uint64_t kFarGapBytes = 64 << 10;

}  // namespace

void PlannerLimits::SetFar() {
  under_way_us = kFarUnderWayUs;
  urgent_bytes_min = kFarUrgentBytes;
  gap_bytes_max = kFarGapBytes;
  aligned = true;
  sweeps = true;
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
