// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "samplers/mt19937.h"
#include "samplers/sampler.h"

namespace augur {

// What torch's CPU generator makes of the outputs of a Mersenne twister. Source:
// aten/src/ATen/native/TensorFactories.cpp (randperm), aten/src/ATen/core/DistributionsHelper.h and
// TransformationHelper.h (random_, randint), of torch 0.4 to 2.15.

// Of a seed of torch.manual_seed only the low 32 bits reach the state; a negative one is taken modulo 2^64 before.
inline Mt19937 TorchEngine(uint64_t seed) { return Mt19937(static_cast<uint32_t>(seed)); }

// The seed of a torch.Generator() that was not seeded (c10::detail::default_rng_seed_val).
inline constexpr uint64_t kTorchDefaultSeed = 67280421310721;

// How lists of kTorchWideSamples and more are shuffled; shorter ones are the same in all versions.
enum class TorchWide {
  kInsideOut,  // torch 2.6 and later: two outputs a sample, built up from the front
  kFront,      // before: like the short ones, with a bias that the change removed
};
inline constexpr uint64_t kTorchWideSamples = 0xffffffffU / 20;

// Replaces *indices by the first `count` elements of torch.randperm(samples). The engine is left where it was: the
// whole permutation takes TorchPermutationOutputs of it. Cost: `count` steps, but all steps for kInsideOut. REQUIRES: 0
// < samples < 2^32.
void TorchPermutation(const Mt19937& engine, uint64_t samples, size_t count, IndexOrder* indices,
                      TorchWide wide = TorchWide::kInsideOut);

// The same for torch.randperm(samples, generator=torch.Generator().manual_seed(seed)); cheaper for short prefixes.
void TorchPermutationOfSeed(uint64_t seed, uint64_t samples, size_t count, IndexOrder* indices,
                            TorchWide wide = TorchWide::kInsideOut);

// How many outputs of the engine torch.randperm(samples) takes.
uint64_t TorchPermutationOutputs(uint64_t samples, TorchWide wide = TorchWide::kInsideOut);

// torch.empty((), dtype=torch.int64).random_(): two outputs. This is how a RandomSampler and a DataLoader draw seeds.
inline uint64_t TorchRandomSeed(Mt19937& engine) { return engine.Next64() & 0x7fffffffffffffffU; }

// Lists from this length on take two outputs for each number of torch.randint(samples), shorter ones one.
inline constexpr uint64_t kTorchWideRandint = uint64_t{1} << 28;

// Replaces *indices by the first `count` numbers of torch.randint(samples): a RandomSampler with replacement.
// REQUIRES: 0 < samples < 2^32.
void TorchReplacement(const Mt19937& engine, uint64_t samples, size_t count, IndexOrder* indices);

}  // namespace augur
