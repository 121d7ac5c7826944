// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "order/order.h"

namespace augur {

// What 'augurctl drop' has given back.
struct DropReport {
  uint64_t warehouse_bytes = 0;  // of records that were kept
  uint64_t stocked_bytes = 0;    // of files in the page cache that were still to be read
};

// PrefetchControl is what an operator may ask of a mount's prefetch. Methods are safe from any thread that answers no
// request of the kernel; they may wait for the prefetch, but not for the disk or a reader. Implemented by the prefetch
// engine; in tests by a fake.
class PrefetchControl {
 public:
  virtual ~PrefetchControl() = default;

  // The most files that an order may have now, by the memory budget and what is queued already.
  virtual uint64_t OrderFilesMax() const = 0;
  // Queues the order behind those that are there, as a further epoch. kNoSpace: more files than OrderFilesMax; nothing
  // was queued. REQUIRES: entries are files of the store.
  virtual Status AddOrder(Order order) = 0;
  // What the numbers of control/statistics.h cannot say, as names and values for people and programs: "policy",
  // "sweep".
  virtual std::vector<std::pair<std::string, std::string>> Describe() const = 0;
  // Empties the warehouse and drops what is stocked ahead from the page cache. What readers use stays readable.
  virtual DropReport Drop() = 0;
};

}  // namespace augur
