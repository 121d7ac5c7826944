// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "samplers/masked_draw.h"
#include "samplers/mt19937.h"
#include "samplers/pcg64.h"
#include "samplers/sampler.h"

namespace augur {

// NumpyRandomState is numpy.random.RandomState, which is also the numpy.random.seed, shuffle and permutation of the
// module. NumPy promises never to change it. A copy goes on from where its original stood. For one thread.
//
// Source: numpy/random/mtrand.pyx, _mt19937.pyx, src/legacy.
class NumpyRandomState {
 public:
  explicit NumpyRandomState(uint32_t seed) : generator_(seed) {}

  // A number from 0 to `last`, as shuffle draws it; randint(last + 1) draws in the same way.
  uint32_t Draw(uint32_t last) { return DrawMasked(generator_, last); }
  // shuffle() of any sequence; permutation(n) is the same of 0 .. n - 1.
  void Shuffle(IndexOrder* order) {
    ShuffleFromEnd([&](uint32_t last) { return Draw(last); }, order);
  }

 private:
  Mt19937 generator_;
};

// NumpyGenerator is what numpy.random.default_rng(seed) returns. NumPy reserves the right to change it. A copy goes on
// from where its original stood. For one thread.
//
// Source: numpy/random/_generator.pyx, src/distributions/distributions.c.
class NumpyGenerator {
 public:
  explicit NumpyGenerator(uint64_t seed) : generator_(seed) {}

  // A number from 0 to `last`, as shuffle draws it.
  uint32_t Draw(uint32_t last) { return DrawMasked(generator_, last); }
  // shuffle() of any sequence; permutation(n) is the same of 0 .. n - 1.
  void Shuffle(IndexOrder* order) {
    ShuffleFromEnd([&](uint32_t last) { return Draw(last); }, order);
  }

 private:
  Pcg64 generator_;
};

}  // namespace augur
