// SPDX-License-Identifier: Apache-2.0
#include "samplers/torch_permutation.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "samplers/front_shuffle.h"

namespace augur {
namespace {

// Each new number i takes a random place z up to its own, and what was in z moves to the end. Of all the places only
// those of the prefix are held: one behind it never comes back into it.
void InsideOut(Mt19937 engine, uint64_t samples, size_t count, IndexOrder* indices) {
  const uint64_t taken = std::min<uint64_t>(count, samples);
  indices->assign(taken, 0);
  for (uint64_t i = 0; i < samples; ++i) {
    const uint64_t place = engine.Next64() % (i + 1);
    if (i < taken) (*indices)[i] = (*indices)[place];
    if (place < taken) (*indices)[place] = static_cast<uint32_t>(i);
  }
}

}  // namespace

void TorchPermutation(const Mt19937& engine, uint64_t samples, size_t count, IndexOrder* indices) {
  AUGUR_CHECK(samples > 0 && samples >> 32 == 0);
  if (samples >= kTorchWideSamples) return InsideOut(engine, samples, count, indices);
  Mt19937 own = engine;
  FrontShuffle(
      samples, count, [&own](uint64_t bound) { return own.Next() % static_cast<uint32_t>(bound); }, indices);
}

void TorchPermutationOfSeed(uint64_t seed, uint64_t samples, size_t count, IndexOrder* indices) {
  AUGUR_CHECK(samples > 0 && samples >> 32 == 0);
  if (count > kFirstOutputsMax || samples >= kTorchWideSamples) {
    return TorchPermutation(TorchEngine(seed), samples, count, indices);
  }
  const std::vector<uint32_t> outputs = FirstOutputs(static_cast<uint32_t>(seed), count);
  const uint32_t* next = outputs.data();
  FrontShuffle(
      samples, count, [&next](uint64_t bound) { return *next++ % static_cast<uint32_t>(bound); }, indices);
}

uint64_t TorchPermutationOutputs(uint64_t samples) { return samples >= kTorchWideSamples ? 2 * samples : samples - 1; }

void TorchReplacement(const Mt19937& engine, uint64_t samples, size_t count, IndexOrder* indices) {
  AUGUR_CHECK(samples > 0 && samples >> 32 == 0);
  Mt19937 own = engine;
  indices->resize(count);
  for (uint32_t& index : *indices) {
    index = static_cast<uint32_t>(samples >= kTorchWideRandint ? own.Next64() % samples : own.Next() % samples);
  }
}

}  // namespace augur
