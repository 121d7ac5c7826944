// SPDX-License-Identifier: Apache-2.0
#include "samplers/tf_seed.h"

#include "samplers/python_random.h"

namespace augur {
namespace {

constexpr int64_t kIntMax = 0x7fffffff;
constexpr uint64_t kDefaultGraphSeed = 87654321;

// Python's remainder, which is never negative.
uint64_t Truncated(int64_t seed) {
  const int64_t rest = seed % kIntMax;
  return static_cast<uint64_t>(rest < 0 ? rest + kIntMax : rest);
}

TfSeeds NeverBothZero(uint64_t seed, uint64_t seed2) {
  if (seed == 0 && seed2 == 0) return {.seed = 0, .seed2 = kIntMax};
  return {.seed = seed, .seed2 = seed2};
}

}  // namespace

TfSeeds TfSeedsOfOp(int64_t op_seed) { return NeverBothZero(kDefaultGraphSeed, Truncated(op_seed)); }

TfSeeds TfSeedsOfBoth(int64_t global_seed, int64_t op_seed) {
  return NeverBothZero(Truncated(global_seed), Truncated(op_seed));
}

TfSeeds TfSeedsOfGlobal(int64_t global_seed, uint64_t call) {
  const auto bits = static_cast<uint64_t>(global_seed);
  PythonRandom random(global_seed < 0 ? 0 - bits : bits);
  for (uint64_t earlier = 0; earlier < call; ++earlier) random.Draw(kIntMax);
  return TfSeedsOfBoth(global_seed, random.Draw(kIntMax));
}

}  // namespace augur
