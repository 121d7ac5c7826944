// SPDX-License-Identifier: Apache-2.0
#include "tools/copy_memory.h"

#include <algorithm>

#include "base/units.h"

namespace augur {
namespace {

// Of the disk cache, for each of both. A local disk is faster than the link; it gets behind only while it is busy with
// others, for a sixth of a second at 200 MB/s.
constexpr uint64_t kDiskShare = 16;
constexpr uint64_t kIndexBytesMin = 4 * kMiB;
constexpr uint64_t kWritingMax = 32 * kMiB;
// Of the fleet's cache: blocks that wait to be sent there, and as much for those that are being received and checked,
// 1 MiB for each server that answers.
constexpr uint64_t kFleetShare = 32;
constexpr uint64_t kFleetWaitingMax = 32 * kMiB;
// Of the fleet's sweep: four pieces of 8 MiB, with what lies between their records.
constexpr uint64_t kSweepShare = 16;
constexpr uint64_t kSweepMax = 36 * kMiB;

}  // namespace

CopyMemory DivideCopyMemory(const CopyMemoryOptions& options, uint64_t bytes) {
  CopyMemory memory;
  if (options.has_disk_cache) {
    memory.index_bytes = std::min(std::max(options.index_bytes, kIndexBytesMin), bytes / kDiskShare);
    memory.writing_bytes = std::min(kWritingMax, bytes / kDiskShare);
  }
  if (options.has_fleet_cache) {
    memory.fleet_waiting_bytes = std::min(kFleetWaitingMax, (bytes - memory.bytes()) / kFleetShare);
  }
  if (options.has_fleet_cache && options.sweeps) {
    memory.fleet_sweep_bytes = std::min(kSweepMax, (bytes - memory.bytes()) / kSweepShare);
  }
  return memory;
}

}  // namespace augur
