// SPDX-License-Identifier: Apache-2.0
#include "seed_search/compiled_query.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace augur {
namespace {

std::vector<CompiledQuery::Clue> Tests(uint32_t samples, uint32_t offset, const std::vector<SeedClue>& clues) {
  std::vector<CompiledQuery::Clue> tests;
  for (const SeedClue& clue : clues) {
    AUGUR_CHECK(clue.index < samples && clue.position < samples);
    AUGUR_CHECK(uint64_t{offset} + clue.position <= kSeedOutputMax);
    if (clue.index < clue.position) continue;
    const uint32_t output = offset + clue.position;
    auto test = std::ranges::find(tests, output, &CompiledQuery::Clue::output);
    if (test == tests.end()) {
      test = tests.insert(test, {.output = output, .divisor = Divisor(samples - clue.position), .remainders = {}});
    }
    const uint32_t remainder = clue.index - clue.position;
    if (std::ranges::find(test->remainders, remainder) == test->remainders.end()) test->remainders.push_back(remainder);
  }
  for (CompiledQuery::Clue& test : tests) {
    while (test.remainders.size() % CompiledQuery::kRemaindersATime != 0) {
      test.remainders.push_back(test.remainders.back());
    }
  }
  return tests;
}

}  // namespace

Divisor::Divisor(uint32_t divisor) : value(divisor) {
  AUGUR_CHECK(divisor > 0);
  reciprocal = std::numeric_limits<uint32_t>::max() / divisor;
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
