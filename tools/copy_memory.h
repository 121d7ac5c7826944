// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// The memory of copies of a store that is on a server: of the disk cache, and of the fleet's cache.
struct CopyMemory {
  uint64_t index_bytes = 0;          // of the disk cache
  uint64_t writing_bytes = 0;        // blocks of records that wait to be written to it
  uint64_t fleet_waiting_bytes = 0;  // blocks of records that wait to be sent to the fleet
  uint64_t fleet_sweep_bytes = 0;    // pieces of the store on their way to the fleet

  // As much as is sent may be received and be checked, too.
  uint64_t bytes() const { return index_bytes + writing_bytes + 2 * fleet_waiting_bytes + fleet_sweep_bytes; }
};

struct CopyMemoryOptions {
  bool has_disk_cache = false;
  uint64_t index_bytes = 0;  // what its index takes for all blocks of the store
  bool has_fleet_cache = false;
  bool sweeps = false;  // this machine reads its share of the store for the fleet
};

// Of the `bytes` that the parts of the budget share.
CopyMemory DivideCopyMemory(const CopyMemoryOptions& options, uint64_t bytes);

}  // namespace augur
