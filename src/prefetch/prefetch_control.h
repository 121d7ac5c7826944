// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "datasets/order.h"

namespace augur {

// What 'augurctl drop' has given back.
struct DropReport {
  uint64_t retained_cache_bytes = 0;  // of records that were kept
  uint64_t push_window_bytes = 0;     // of files in the page cache, as Gauge::kPushWindowBytes counts them
};

// PrefetchControl is what an operator may ask of a mount's prefetch. Methods are safe from any thread that answers no
// request of the kernel; they may wait for the prefetch, but not for the disk or a reader. Implemented by the prefetch
// engine; in tests by a fake.
class PrefetchControl {
 public:
  virtual ~PrefetchControl() = default;

  // Where an order is queued: as a further epoch behind those that were given before, or in place of them.
  enum class Place { kBehind, kInstead };

  // The most files that an order may have now, by the memory budget and what stays queued.
  virtual uint64_t OrderFilesMax(Place place) const = 0;
  // Queues the order. kNoSpace: more files than OrderFilesMax; nothing was queued, or taken away. REQUIRES: entries are
  // files of the store.
  virtual Status AddOrder(Order order, Place place) = 0;
  // What the numbers of control/statistics.h cannot say, as names and values for people and programs: "policy",
  // "sweep".
  virtual std::vector<std::pair<std::string, std::string>> Describe() const = 0;
  // Empties the retained cache and drops what was pushed ahead from the page cache. What readers use stays readable.
  virtual DropReport Drop() = 0;
};

}  // namespace augur
