// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace augur {

// Where the random numbers of an epoch come from: three ways, and every torch sampler that we know goes one of them.

// A generator made anew for each epoch, seeded with seed + epoch * step. Step 1: a DistributedSampler whose set_epoch
// is called. Step 0: it is not called, or the seed is known for the one epoch alone.
struct FreshSeed {
  uint64_t seed = 0;
  uint64_t step = 1;
};

// A generator made anew for each epoch, seeded with a number drawn from another one, torch's global generator after
// manual_seed(stream_seed). The number is output `position` in epoch 0, and `stride` outputs further for each epoch
// after it. Of the drawn 64 bits only the low half, the second of two outputs, reaches the state: `position` is that
// one's.
struct DrawnSeed {
  uint64_t stream_seed = 0;
  uint64_t position = 0;
  uint64_t stride = 0;
};

// One generator for the whole run: epoch 0 begins behind `offset` outputs. A later epoch begins behind the outputs of
// the one before, and `extra` outputs that others draw. A RandomSampler of torch 1.11 and later (`trailing`) takes a
// second permutation in each epoch, of which nothing is used. `burnt` whole permutations may lie before epoch 0, too:
// of an iterator that was made and not used.
struct RunStream {
  uint64_t seed = 0;
  uint64_t offset = 0;
  bool trailing = false;
  uint64_t extra = 0;
  uint64_t burnt = 0;
};

using TorchGenerator = std::variant<FreshSeed, DrawnSeed, RunStream>;

// For people: "seed 42 + epoch".
std::string DescribeGenerator(const TorchGenerator& generator);

}  // namespace augur
