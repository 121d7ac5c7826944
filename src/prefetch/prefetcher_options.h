// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace augur {

struct PrefetcherOptions {
  uint64_t retained_bytes_max = 0;     // of the retained cache
  uint64_t chunk_bytes = 0;            // memory for files that are being read ahead, or were read and are on their way
  uint64_t push_window_bytes_max = 0;  // of the page cache; 0: nothing is pushed
  uint64_t lent_window_bytes_max = 0;  // of those, what the retained cache may have for a time
  uint64_t order_bytes_max = 0;        // memory for orders
  // How much of the page cache there is now for files that were read and will be again; asked once a second while
  // something is followed. None where it is empty.
  std::function<uint64_t()> reusable_bytes_max;
  // How often the kernel's whole page cache was dropped by hand so far; asked along with that.
  std::function<uint64_t()> page_cache_drops;
  // What the page cache has room for is kept as well: another mount may need it, or the next run.
  bool retains_read = false;
  bool opens_asked = false;  // the kernel asks for each open (ReadObserver::OnOpen), so no folder is watched
  // Whether the AccessListener wants all opens, also where the planner has no use for them. Asked by the planning
  // thread; empty: no.
  std::function<bool()> opens_wanted = {};
  uint32_t own_process = 0;      // whose opens are our own, of the MountView; 0: there is none
  unsigned reads_max = 32;       // under way, however far away the disk is
  unsigned near_reads_max = 32;  // ... where it is near
  bool far = false;              // the store is on a server: a read takes as long for a MB as for a byte
  unsigned push_threads = 1;
  uint64_t accesses_max =
      32'768;  // that wait for the planning thread: half a second of 65,000 reads and opens a second
};

}  // namespace augur
