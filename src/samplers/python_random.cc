// SPDX-License-Identifier: Apache-2.0
#include "samplers/python_random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "samplers/masked_draw.h"
#include "samplers/swap_map.h"

namespace augur {
namespace {

Mt19937 Seeded(uint64_t seed) {
  const std::array<uint32_t, 2> words = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  return Mt19937(std::span<const uint32_t>(words).first(words[1] == 0 ? 1 : 2));
}

// From how many items on sample() remembers what it took, instead of a list of all of them.
uint64_t ListMax(uint32_t count) {
  uint64_t list_max = 21;
  if (count <= 5) return list_max;
  // 4 ** ceil(log(3 * count, 4)); 3 * count is no power of four, so no rounding of the logarithm matters.
  uint64_t power = 1;
  while (power < 3 * uint64_t{count}) power *= 4;
  return list_max + power;
}

}  // namespace

PythonRandom::PythonRandom(uint64_t seed) : generator_(Seeded(seed)) {}

uint32_t PythonRandom::Draw(uint32_t last) {
  const uint64_t end = uint64_t{last} + 1;
  const int drop = 32 - static_cast<int>(std::bit_width(end));
  AUGUR_CHECK(drop >= 0);
  uint32_t drawn = generator_.Next() >> drop;
  while (drawn > last) drawn = generator_.Next() >> drop;
  return drawn;
}

void PythonRandom::Shuffle(IndexOrder* order) {
  ShuffleFromEnd([&](uint32_t last) { return Draw(last); }, order);
}

IndexOrder PythonRandom::Sample(uint32_t n, uint32_t count) {
  AUGUR_CHECK(count <= n);
  IndexOrder sample(count);
  if (n <= ListMax(count)) {
    IndexOrder left(n);
    std::iota(left.begin(), left.end(), 0U);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t drawn = Draw(n - i - 1);
      sample[i] = left[drawn];
      left[drawn] = left[n - i - 1];
    }
    return sample;
  }
  std::unordered_set<uint32_t> taken;
  for (uint32_t& item : sample) {
    do {
      item = Draw(n - 1);
    } while (!taken.insert(item).second);
  }
  return sample;
}

void PythonRandom::SampleAll(uint32_t n, size_t count, IndexOrder* order) {
  // Of all of them sample() keeps a list, and fills the gap that it drew from with the last that is left.
  const auto taken = static_cast<uint32_t>(std::min<size_t>(count, n));
  constexpr uint32_t kPlacesAStepMin = 64;  // as for FrontShuffle
  order->clear();
  order->reserve(taken);
  if (taken >= n / kPlacesAStepMin) {
    IndexOrder left(n);
    std::iota(left.begin(), left.end(), 0U);
    for (uint32_t last = n; last-- > n - taken;) {
      const uint32_t drawn = Draw(last);
      order->push_back(std::exchange(left[drawn], left[last]));
    }
    return;
  }
  SwapMap left(taken);
  for (uint32_t last = n; last-- > n - taken;) {
    const uint32_t drawn = Draw(last);
    order->push_back(left.Exchange(drawn, left.At(last)));
  }
}

void PythonRandom::SkipSample(uint32_t n) {
  for (uint32_t last = n; last-- > 0;) Draw(last);
}

uint32_t PythonRandom::Draw32() {
  for (;;) {
    // getrandbits(33): the low half first, of the second output the top bit.
    const uint32_t low = generator_.Next();
    if (generator_.Next() >> 31 == 0) return low;
  }
}

}  // namespace augur
