// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// The two seeds that a random op of TensorFlow gets. (0, 0) makes the op draw its own; Python never asks for it when a
// seed was given.
struct TfSeeds {
  uint64_t seed = 0;
  uint64_t seed2 = 0;

  bool operator==(const TfSeeds&) const = default;
};

// Python's rules in eager mode (tensorflow/python/framework/random_seed.py and data/util/random_seed.py, TensorFlow 2):

// An op with a seed, and no tf.random.set_seed.
TfSeeds TfSeedsOfOp(int64_t op_seed);
// An op with a seed after tf.random.set_seed(global_seed).
TfSeeds TfSeedsOfBoth(int64_t global_seed, int64_t op_seed);
// The op without a seed that is number `call` (from 0) after tf.random.set_seed(global_seed). Every random op without a
// seed counts, not only shuffles. Cost: `call` steps.
TfSeeds TfSeedsOfGlobal(int64_t global_seed, uint64_t call);

}  // namespace augur
