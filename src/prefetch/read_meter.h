// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/mutex.h"
#include "control/statistics.h"

namespace augur {

// ReadMeter measures reads of shards: how long each takes (disk_read_us), and in how much time at least one is under
// way (disk_busy_us). The quotient of both sums is the mean number of reads in flight. Safe from any thread. A read
// costs two looks at the clock. REQUIRES: statistics outlive it.
class ReadMeter {
 public:
  explicit ReadMeter(Statistics& statistics) : statistics_(statistics) {}
  ReadMeter(const ReadMeter&) = delete;
  ReadMeter& operator=(const ReadMeter&) = delete;

  // A read begins. Returns the time, for End.
  uint64_t Begin() AUGUR_EXCLUDES(mu_);
  // REQUIRES: what Begin has returned, once.
  void End(uint64_t begun_us) AUGUR_EXCLUDES(mu_);

 private:
  void CountBusy(uint64_t now_us) AUGUR_REQUIRES(mu_);

  // Own synchronization.
  Statistics& statistics_;

  Mutex mu_;
  uint64_t under_way_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t counted_us_ AUGUR_GUARDED_BY(mu_) = 0;  // the time until which disk_busy_us is counted
};

}  // namespace augur
