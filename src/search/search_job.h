// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "search/seed_query.h"

namespace augur {

// What a job's work asks its thread. Lives as long as the call of the work, used by that thread alone.
class SearchTurn {
 public:
  virtual ~SearchTurn() = default;
  // To be called about once a millisecond of work: false when the job was cancelled or has found what it looks for; the
  // work then returns. May sleep, where the thread has had its share of the processor.
  virtual bool Continue() = 0;
  // Ends the job as found: no further range is begun, other threads' Continue() say false.
  virtual void Found() = 0;
};

enum class SearchEnd { kExhausted, kFound, kCancelled };

struct SearchProgress {
  double fraction = 0;           // of the units, 0 to 1
  double units_a_second = 0;     // over the whole time so far
  double seconds = 0;            // since the first thread began; 0 while it waits in the queue
  double core_seconds = 0;       // processor time of all threads
  double paid_core_seconds = 0;  // of that, taken by the share that AllowShare allowed
};

// Something to be searched: units 0 to units - 1 (seeds, entries of a dictionary), taken in ranges by several threads.
struct SearchJob {
  std::string name;    // for the log
  uint64_t units = 0;  // more than 0
  uint64_t range_units =
      1;  // taken by a thread at a time: about a millisecond of work, or the work asks its turn in between
  // Searches units [first, first + count). Called by several threads at a time.
  std::function<void(uint64_t first, uint64_t count, SearchTurn& turn)> work;
  // Called once, by the pool's own thread, when no call of `work` is under way any more or will be; may be empty. May
  // call the pool, but not destroy it.
  std::function<void(SearchEnd end, const SearchProgress& progress)> on_done;
};

// The job that scans all seeds below `seeds_end` (2^32; 2^31 for seeds of np.random.randint(2**31)) for `query`. The
// predicate is called by several threads at a time, also for a moment after the job was cancelled; when it accepts a
// seed, the job ends as found.
SearchJob MakeSeedJob(const SeedQuery& query, uint64_t seeds_end, SeedPredicate predicate);

}  // namespace augur
