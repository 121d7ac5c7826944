// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "seed_search/compiled_query.h"
#include "seed_search/seed_query.h"

namespace augur {

// The most seeds that a block has: 16 vectors of 16 lanes.
inline constexpr size_t kSeedBlockMax = 256;
// The most offsets of one query: torch needs two, and 8 are 16 KB of hits on the stack.
inline constexpr size_t kSeedOffsetsMax = 8;
using SeedBlockHits = std::array<SeedHit, kSeedBlockMax * kSeedOffsetsMax>;

// Seeds that this processor tries at a time: a divisor of kSeedBlockMax.
size_t SeedBlockSeeds();

// Tries seeds first to first + SeedBlockSeeds() - 1, modulo 2^32, and puts those that pass into *hits, once for each
// begin of the query that they pass. Returns how many hits there are. Safe from any thread.
size_t ScanSeedBlock(const CompiledQuery& query, uint32_t first, SeedBlockHits* hits);

// Name of the target that both use: "AVX3", "AVX2", "NEON".
const char* SeedBlockTarget();

}  // namespace augur
