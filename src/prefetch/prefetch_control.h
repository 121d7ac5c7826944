// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
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

// How far 'augurctl warm' is. Each file counts once.
struct WarmReport {
  uint64_t files = 0;  // that were asked for
  uint64_t bytes = 0;
  uint64_t planned_files = 0;  // of those, the first ones, for which the retained cache has room
  uint64_t planned_bytes = 0;
  uint64_t kept_files = 0;  // of those, the ones that it has now
  uint64_t kept_bytes = 0;
  uint64_t unreadable_files = 0;  // of the planned ones
  uint64_t too_long_files = 0;    // of those that were asked for: the kernel reads them ahead
  bool running = false;
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
  // What the numbers of control/statistics.h cannot say, as names and values for people and programs: "policy", "view".
  virtual std::vector<std::pair<std::string, std::string>> Describe() const = 0;
  // Empties the retained cache and drops from the page cache the files pushed ahead. What readers use stays readable.
  virtual DropReport Drop() = 0;

  // Begins to bring these files of the view that is followed into the retained cache, and returns the number of the
  // run, by which it is asked about. kBusy: another run is not done; kUnsupported: there is no retained cache;
  // kStopped: the mount is ending. REQUIRES: entries are files of the store.
  virtual Result<uint64_t> BeginWarm(std::shared_ptr<const Order> files) = 0;
  // How far the run is; a run that is not asked about for ten seconds ends. `end`: it is to end now. What it has
  // brought stays. kStopped: the run has ended before its time, by Drop or because readers went to another view.
  virtual Result<WarmReport> Warmed(uint64_t run, bool end) = 0;
};

}  // namespace augur
