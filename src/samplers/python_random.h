// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "samplers/mt19937.h"
#include "samplers/sampler.h"

namespace augur {

// PythonRandom is CPython's random.Random(seed), which is also the random.seed and so on of the module, for whole
// numbers as seeds. A copy goes on from where its original stood. For one thread.
//
// Source: Lib/random.py, Modules/_randommodule.c.
class PythonRandom {
 public:
  // Of a negative seed Python takes the absolute value.
  explicit PythonRandom(uint64_t seed);

  // A number from 0 to `last`: _randbelow(last + 1), the top bits of outputs until they are no more than `last`. So
  // randint(a, b) is a + Draw(b - a), and choice(x) is x[Draw(len(x) - 1)]. Unlike NumPy it draws for 0, too.
  // REQUIRES: last < 2^32 - 1.
  uint32_t Draw(uint32_t last);
  // shuffle()
  void Shuffle(IndexOrder* order);
  // sample(range(n), count). REQUIRES: count <= n.
  IndexOrder Sample(uint32_t n, uint32_t count);
  // Replaces *order by the first `count`, n at most, of sample(range(n), n), and goes on behind these.
  void SampleAll(uint32_t n, size_t count, IndexOrder* order);
  // Goes on as if sample(range(n), n) had been taken.
  void SkipSample(uint32_t n);
  // randint(0, 2**32 - 1): two outputs, which are drawn again for half of all.
  uint32_t Draw32();

 private:
  Mt19937 generator_;
};

}  // namespace augur
