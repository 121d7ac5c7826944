// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "samplers/sampler.h"

namespace augur {

// A number from 0 to `last`, both included, as NumPy draws it for a shuffle. It takes the low bits of outputs until
// they are no more than `last`; none are drawn for 0. Source: random_interval in
// numpy/random/src/distributions/distributions.c.
template <typename Generator>
uint32_t DrawMasked(Generator& generator, uint32_t last) {
  if (last == 0) return 0;
  const uint32_t mask = ~uint32_t{0} >> std::countl_zero(last);
  uint32_t drawn = generator.Next() & mask;
  while (drawn > last) drawn = generator.Next() & mask;
  return drawn;
}

// Shuffles from the end, as NumPy and Python do: each place from the last to the second is swapped with a place drawn
// from those up to it. `draw(last)` draws from 0 to last.
template <typename Draw>
void ShuffleFromEnd(Draw draw, IndexOrder* order) {
  for (auto i = static_cast<uint32_t>(order->size()); i-- > 1;) std::swap((*order)[i], (*order)[draw(i)]);
}

}  // namespace augur
