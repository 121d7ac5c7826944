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

// Lists from this length on are built up from the front, by two outputs a sample, as torch 2.6 and later does it.
inline constexpr uint64_t kTorchWideSamples = 0xffffffffU / 20;

// Replaces *indices by the first `count` elements of torch.randperm(samples). The engine is left where it was: the
// whole permutation takes TorchPermutationOutputs of it. Cost: `count` steps, but all steps for a list of
// kTorchWideSamples. REQUIRES: 0 < samples < 2^32.
void TorchPermutation(const Mt19937& engine, uint64_t samples, size_t count, IndexOrder* indices);

// The same for torch.randperm(samples, generator=torch.Generator().manual_seed(seed)); cheaper for short prefixes.
void TorchPermutationOfSeed(uint64_t seed, uint64_t samples, size_t count, IndexOrder* indices);

// How many outputs of the engine torch.randperm(samples) takes.
uint64_t TorchPermutationOutputs(uint64_t samples);

// Lists from this length on take two outputs for each number of torch.randint(samples), shorter ones one.
inline constexpr uint64_t kTorchWideRandint = uint64_t{1} << 28;

// Replaces *indices by the first `count` numbers of torch.randint(samples): a RandomSampler with replacement.
// REQUIRES: 0 < samples < 2^32.
void TorchReplacement(const Mt19937& engine, uint64_t samples, size_t count, IndexOrder* indices);

}  // namespace augur
