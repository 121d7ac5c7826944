// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "samplers/sampler.h"

namespace augur {

// Which std::shuffle: the standard fixes the outputs of std::mt19937 but not what shuffle makes of them.
enum class StdShuffle {
  kLibstdcxx11,  // libstdc++ of GCC 11 and later: Lemire's multiplication
  kLibstdcxx7,   // of GCC 7 to 10: division, whatever is left over is drawn again
};

namespace internal {

__extension__ using Uint128 = unsigned __int128;

// uniform_int_distribution<uint64_t>(0, end - 1). REQUIRES: 0 < end, and less than the number of outputs of the
// generator.
template <typename Generator>
uint64_t StdDraw(Generator& generator, uint64_t end, StdShuffle way) {
  static_assert(Generator::min() == 0);
  constexpr uint64_t kOutputMax = Generator::max();
  if (way == StdShuffle::kLibstdcxx7) {
    const uint64_t outputs_each = kOutputMax / end;
    uint64_t output = generator();
    while (output >= outputs_each * end) output = generator();
    return output / outputs_each;
  }
  constexpr bool kWide = kOutputMax == std::numeric_limits<uint64_t>::max();
  static_assert(kWide || kOutputMax == std::numeric_limits<uint32_t>::max());
  using Word = std::conditional_t<kWide, uint64_t, uint32_t>;
  using Product = std::conditional_t<kWide, Uint128, uint64_t>;
  const auto end_word = static_cast<Word>(end);
  Product product = Product{static_cast<Word>(generator())} * end_word;
  if (static_cast<Word>(product) < end_word) {
    const auto unfair = static_cast<Word>((Word{0} - end_word) % end_word);
    while (static_cast<Word>(product) < unfair) product = Product{static_cast<Word>(generator())} * end_word;
  }
  return static_cast<uint64_t>(product >> std::numeric_limits<Word>::digits);
}

}  // namespace internal

// std::shuffle as libstdc++ has it: from the front, each place changes with one drawn from those up to it, so nothing
// is settled before the end. Short lists take two places from one output. Source: bits/stl_algo.h,
// bits/uniform_int_dist.h.
template <typename Generator>
void ShuffleLikeStd(Generator& generator, StdShuffle way, IndexOrder* order) {
  const uint64_t size = order->size();
  if (size == 0) return;
  const auto swap = [&](uint64_t place, uint64_t other) { std::swap((*order)[place], (*order)[other]); };
  uint64_t place = 1;
  if (Generator::max() / size >= size) {
    if (size % 2 == 0) swap(place++, internal::StdDraw(generator, 2, way));
    for (; place < size; place += 2) {
      const uint64_t both = internal::StdDraw(generator, (place + 1) * (place + 2), way);
      swap(place, both / (place + 2));
      swap(place + 1, both % (place + 2));
    }
    return;
  }
  for (; place < size; ++place) swap(place, internal::StdDraw(generator, place + 1, way));
}

}  // namespace augur
