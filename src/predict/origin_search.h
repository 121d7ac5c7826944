// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "predict/next_epochs.h"
#include "seed_search/search_job.h"

namespace augur {

// A script that never seeds torch has a global generator whose seed nobody knows, but of its 64 bits only the low 32
// reach the state (CPUGeneratorImpl.cpp, MT19937RNGEngine.h; facts/sample-order.md, 1). A seed that an epoch drew from
// it early, before a model took values, therefore tells that seed: all 2^32 are tried for one of whose first outputs it
// is. By that all later epochs are known.
//
// Safe from any thread, and stateless.

// The search is made in so many parts, one behind the other, so that other searches have their turn in between.
inline constexpr uint32_t kOriginParts = 64;

// Which outputs may have been the seed of a job's pass number `pass`, from 0: the second one of a DataLoader's first
// iterator is output 3, and each further iterator draws 2 or 4. None where that is too far for a search of all seeds.
std::vector<uint32_t> OriginPositions(uint32_t pass);

// Looks in part `part` of all seeds. `done` is called once, on a thread of the Searcher's: whether the part was
// searched to its end, and every place where `value` is one of these outputs. Each position gives one place in all
// parts together by chance. REQUIRES: part < kOriginParts, positions not empty.
SearchJob MakeOriginJob(uint32_t value, const std::vector<uint32_t>& positions, uint32_t part,
                        std::function<void(bool whole, std::vector<StreamPosition> places)> done);

}  // namespace augur
