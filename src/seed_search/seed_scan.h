// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "seed_search/compiled_query.h"
#include "seed_search/seed_query.h"

namespace augur {

// SeedScan tries all seeds of a range on one SeedQuery, with the widest vectors that the processor has (Google Highway,
// chosen at run time). It tries 16 to 140 million seeds a second and core. Immutable, safe from any thread; several
// threads scan ranges of their own. Knows only the vector test of SeedQuery: what survives it is the predicate's to
// judge.
class SeedScan {
 public:
  // REQUIRES: query.samples > 0, no clue at or beyond it, offsets + positions at most kSeedOutputMax, 1 to 8 offsets.
  explicit SeedScan(const SeedQuery& query);

  // Calls `predicate` on this thread for every seed in [first, first + count) that the query lets pass, once for each
  // offset, in no promised order. Returns the first hit that it accepts, else nothing. Give `count` in multiples of
  // 4,096 where the time matters: less is computed and thrown away. REQUIRES: first + count <= 2^32.
  std::optional<SeedHit> Scan(uint64_t first, uint64_t count, const SeedPredicate& predicate) const;

 private:
  // Constant after construction.
  CompiledQuery query_;
};

// Name of the vectors that a scan uses here ("AVX3", "AVX2", "NEON"), for the log.
const char* SeedScanTarget();

}  // namespace augur
