// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "tools/augurfs_options.h"

namespace augur {

// With less for the whole daemon, orders are not worked out.
inline constexpr uint64_t kMemoryToPredict = uint64_t{64} << 20;

// The memory of files read ahead of requests, and of knowing which to read. All of it 0: nothing is read ahead.
struct PrefetchMemory {
  // Less of either would be of no use.
  static constexpr uint64_t kStagingMin = 5 * kMiB;
  static constexpr uint64_t kPushWindowMin = 4 * kMiB;

  uint64_t staging_bytes = 0;      // files on their way from the disk to the page cache, or to the retained cache
  uint64_t prediction_bytes = 0;   // working out orders; 0: they are not
  uint64_t order_bytes_max = 0;    // orders that are followed
  uint64_t retained_bytes = 0;     // the retained cache
  uint64_t push_window_bytes = 0;  // files in the page cache that were pushed ahead of the reader, and those it read
  uint64_t lent_window_bytes = 0;  // of them, what the retained cache may have on a seek-bound disk
};

struct PrefetchMemoryOptions {
  bool push = true;
  CacheOptions cache;
  uint64_t prediction_bytes = 0;  // for working out the orders of all files
  uint64_t order_bytes = 0;       // for the orders of the epochs that are known ahead
};

// What staging has of the `bytes` that the parts of the budget share.
uint64_t StagingBytes(uint64_t bytes);

// Divides `bytes`, which staging is not a part of, among the others. Where less is used than was asked, a note says so;
// `memory_bytes` is the whole budget.
PrefetchMemory DividePrefetchMemory(const PrefetchMemoryOptions& options, uint64_t staging_bytes, uint64_t bytes,
                                    uint64_t memory_bytes, std::vector<std::string>& notes);

}  // namespace augur
