// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "shuffle/sampler.h"
#include "shuffle/tf_seed.h"
#include "shuffle/tf_shuffle.h"

namespace augur {

// What was read first by somebody who may use tf.data's shuffle without any seed.
struct TfFirstReads {
  uint64_t samples = 0;
  uint64_t buffer_samples = 0;  // see TfShuffleSampler
  TfEpochs epochs = TfEpochs::kReshuffled;
  uint64_t epoch = 0;     // the epoch that was read: 0 for the first of the process
  IndexOrder reads = {};  // each once, in any order
  // How much further back in the order than there are reads one may lie: parallel reads, and those that were not seen.
  uint64_t slack = 0;
};

// TfUnseededSearch tells which 32 bits could have seeded the process. A shuffle without a seed draws its two from one
// std::mt19937_64 of the whole process, and that is seeded by a single std::random_device, so by 32 bits. What is not
// known is how many numbers the process drew before: the same in every run of a script, but anything from 49 in one
// that only shuffles to hundreds behind a model. So a search needs that number from an earlier run of the script.
//
// Cost: 1.9 us a seed and 80 ns for each number of earlier draws: 2.3 core-hours for all seeds and one number. Memory:
// 1 bit a sample. Immutable, safe from any thread.
//
// Source: tsl/platform/random.cc (New64), tensorflow/core/data/dataset_utils.cc (MaybeOverrideSeeds); checked
// against 2.21.
class TfUnseededSearch {
 public:
  static constexpr size_t kReadsMin = 8;

  // Tries `draws_begin` to before `draws_end` earlier draws. REQUIRES: at least kReadsMin reads, below samples.
  TfUnseededSearch(TfFirstReads first, uint32_t draws_begin, uint32_t draws_end);

  // The number of earlier draws with which the process that `seed` seeded reads so, the least of them; nothing: none.
  // A wrong seed fits when three quarters of the reads happen to lie among its first reads and slack: with 8 reads of
  // 50,000 samples and no slack once in 10^21 trials.
  std::optional<uint32_t> Fits(uint32_t seed) const;

  // What the shuffle of a process draws for itself after so many earlier draws.
  static TfSeeds SeedsOf(uint32_t seed, uint32_t draws);

 private:
  bool Fits(TfSeeds seeds) const;
  bool Marked(uint64_t index) const { return ((marks_[index / 64] >> (index % 64)) & 1) != 0; }

  const TfFirstReads first_;
  const uint32_t draws_begin_;
  const uint32_t draws_end_;
  std::vector<uint64_t> marks_;  // one bit a sample: it was read. Constant after construction.
};

}  // namespace augur
