// SPDX-License-Identifier: Apache-2.0
#include "search/compiled_query.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace augur {
namespace {

// Of an odd number modulo 2^32, by Newton's iteration: odd * odd == 1 modulo 8, so `odd` is right in three bits, and
// each step doubles them: 6, 12, 24, 48.
uint32_t Inverse(uint32_t odd) {
  uint32_t inverse = odd;
  for (int step = 0; step < 4; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}

std::vector<CompiledQuery::Clue> Tests(uint32_t samples, uint32_t offset, const std::vector<SeedClue>& clues) {
  std::vector<CompiledQuery::Clue> tests;
  for (const SeedClue& clue : clues) {
    AUGUR_CHECK(clue.index < samples && clue.position < samples);
    AUGUR_CHECK(uint64_t{offset} + clue.position <= kSeedOutputMax);
    if (clue.index < clue.position) continue;
    tests.push_back({offset + clue.position, RemainderTest(samples - clue.position, clue.index - clue.position)});
  }
  return tests;
}

}  // namespace

RemainderTest::RemainderTest(uint32_t divisor, uint32_t remainder_wanted)
    : remainder(remainder_wanted),
      inverse(Inverse(divisor >> std::countr_zero(divisor))),
      shift(static_cast<uint32_t>(std::countr_zero(divisor))),
      limit((std::numeric_limits<uint32_t>::max() - remainder_wanted) / divisor) {
  AUGUR_CHECK(remainder_wanted < divisor);
}

CompiledQuery::CompiledQuery(const SeedQuery& query) {
  AUGUR_CHECK(query.samples > 0);
  for (const uint32_t offset : query.offsets) {
    Begin begin{offset, query.and_any_of.empty(), Tests(query.samples, offset, query.any_of),
                Tests(query.samples, offset, query.and_any_of)};
    if (begin.any_of.empty() || (!begin.only_any && begin.and_any_of.empty())) continue;
    for (const auto* clues : {&begin.any_of, &begin.and_any_of}) {
      for (const Clue& clue : *clues) outputs = std::max(outputs, clue.output + 1);
    }
    begins.push_back(std::move(begin));
  }
}

}  // namespace augur
