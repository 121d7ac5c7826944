// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "seed_search/seed_query.h"

namespace augur {

// Divisor gives x % divisor for any 32-bit x without a division. x times the reciprocal is the quotient, or one less,
// so what it leaves is the remainder, or the remainder and one divisor. Source: Barrett, "Implementing the Rivest
// Shamir and Adleman public key encryption algorithm on a standard digital signal processor", CRYPTO 1986. Immutable.
struct Divisor {
  // REQUIRES: divisor > 0.
  explicit Divisor(uint32_t value);
  uint32_t Remainder(uint32_t x) const {
    const auto quotient = static_cast<uint32_t>(uint64_t{x} * reciprocal >> 32);
    const uint32_t rest = x - quotient * value;
    return std::min(rest, rest - value);  // where it is below the divisor, the difference wraps
  }

  uint32_t value = 0;
  uint32_t reciprocal = 0;  // (2^32 - 1) / value, rounded down
};

// CompiledQuery is a SeedQuery made ready for the vector loop. Each clue is a test of one output of the generator, and
// those of one position stand together, since their remainder is the same. Immutable.
struct CompiledQuery {
  // A loop of few rounds ends as the processor predicts, most times: the clues of up to four streams are one round, of
  // eight (the most, predict/order_search.cc) two.
  static constexpr size_t kRemaindersATime = 4;

  // Any of `remainders` must be what `divisor` leaves of the output. There are a multiple of kRemaindersATime of them,
  // the last one several times.
  struct Clue {
    uint32_t output = 0;  // its number in the stream: offset + position
    Divisor divisor;
    std::vector<uint32_t> remainders;
  };
  // What must hold for one offset: any clue of `any_of` and, unless `only_any`, any clue of `and_any_of` for another
  // output.
  struct Begin {
    uint32_t offset = 0;
    bool only_any = true;
    std::vector<Clue> any_of;
    std::vector<Clue> and_any_of;
  };
  std::vector<Begin> begins;  // without those that nothing can agree with
  uint32_t outputs = 0;       // needed of the stream: 0 to outputs - 1

  // REQUIRES: as SeedScan's constructor.
  explicit CompiledQuery(const SeedQuery& query);
};

}  // namespace augur
