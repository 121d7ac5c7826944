// SPDX-License-Identifier: Apache-2.0
#include "seed_search/seed_scan.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "seed_search/seed_block.h"

namespace augur {

SeedScan::SeedScan(const SeedQuery& query) : query_(query) { AUGUR_CHECK(query.offsets.size() <= kSeedOffsetsMax); }

std::optional<SeedHit> SeedScan::Scan(uint64_t first, uint64_t count, const SeedPredicate& predicate) const {
  constexpr uint64_t kSeeds = uint64_t{1} << 32;
  AUGUR_CHECK(first <= kSeeds && count <= kSeeds - first);
  if (query_.begins.empty()) return std::nullopt;
  SeedBlockHits hits;
  const uint64_t block = SeedBlockSeeds();
  for (uint64_t seed = first; seed < first + count; seed += block) {
    const size_t found = ScanSeedBlock(query_, static_cast<uint32_t>(seed), &hits);
    for (size_t i = 0; i < found; ++i) {
      // The last block may reach over the end, and there around to seed 0.
      if (static_cast<uint32_t>(hits[i].seed - static_cast<uint32_t>(seed)) >= first + count - seed) continue;
      if (predicate(hits[i].seed, hits[i].offset)) return hits[i];
    }
  }
  return std::nullopt;
}

const char* SeedScanTarget() { return SeedBlockTarget(); }

}  // namespace augur
