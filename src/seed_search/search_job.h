// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "seed_search/search_allowance.h"
#include "seed_search/seed_query.h"

namespace augur {

// What a job's work asks its thread. Lives as long as the call of the work, used by that thread alone.
class SearchTurn {
 public:
  virtual ~SearchTurn() = default;
  // To be called about once a millisecond of work, where a range takes longer than that. False when the job was
  // cancelled or has found what it looks for; the work then returns. May sleep, where another thread wants the core.
  virtual bool Continue() = 0;
  // Ends the job as found, with `result` for its on_done: no further range is begun, other threads' Continue() say
  // false. When several threads find something, the first one's result counts. REQUIRES: result < 2^62.
  virtual void Found(uint64_t result) = 0;
};

enum class SearchEnd { kExhausted, kFound, kCancelled, kSpent };

struct SearchProgress {
  double fraction = 0;        // of the units, 0 to 1
  double units_a_second = 0;  // over the whole time so far
  double seconds = 0;         // since the job's turn came; 0 while it waits in the queue
  double core_seconds = 0;    // processor time of all threads
};

struct SearchOutcome {
  SearchEnd end = SearchEnd::kExhausted;
  uint64_t result = 0;  // of Found
  SearchProgress progress;
};

// Something to be searched: units 0 to units - 1 (seeds, entries of a dictionary), taken in ranges by several threads.
struct SearchJob {
  std::string name;          // for the log
  uint64_t units = 0;        // more than 0
  uint64_t range_units = 1;  // taken by a thread at a time: about a millisecond of work, or work that asks its turn
  // Searches units [first, first + count). Called by several threads at a time, and these may lose their core for
  // seconds at any instruction: no lock in it that anyone else waits for. After the job's end it may go on for a
  // moment, until its range ends or Continue() says false: what it refers to, it owns, or that outlives the Searcher.
  std::function<void(uint64_t first, uint64_t count, SearchTurn& turn)> work;
  // Called once, by the Searcher's own ordinary thread: as soon as a thread has found something, all ranges are
  // searched, the allowance is spent, or the job was cancelled. May call the Searcher, but not destroy it. May be
  // empty.
  std::function<void(const SearchOutcome& outcome)> on_done = {};
  // Bounds the processor time of the job; it ends as spent. Null: no bound.
  std::shared_ptr<SearchAllowance> allowance = nullptr;
};

// The job that scans seeds 0 to seeds_end - 1 (2^32; 2^31 for seeds of np.random.randint(2**31)) for `query`. `accept`
// is work in the sense above; when it says true, the job ends as found, and SeedHitOf(outcome.result) is what it
// accepted. REQUIRES: as SeedScan's constructor, 0 < seeds_end <= 2^32.
SearchJob MakeSeedJob(const SeedQuery& query, uint64_t seeds_end, SeedPredicate accept,
                      std::function<void(const SearchOutcome& outcome)> on_done);
SeedHit SeedHitOf(uint64_t result);

}  // namespace augur
