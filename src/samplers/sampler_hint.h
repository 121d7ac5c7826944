// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"

namespace augur {

// What a user says about the sampler of a run: the words of `augurctl hint`, read but not yet understood. A value.
struct SamplerHint {
  static constexpr uint64_t kWorldSizeMax = uint64_t{1} << 20;
  // More is a mistake. SamplerDescription refuses a place that is too far into a generator's stream for the samples
  // that there are. A stride is at most what a few random numbers for each sample of an epoch add.
  static constexpr uint64_t kEpochFromMax = 100'000;
  static constexpr uint64_t kPositionMax = uint64_t{1} << 36;
  static constexpr uint64_t kStrideMax = uint64_t{1} << 32;

  std::vector<std::string> words;      // all of them, as they were given
  std::string sampler;                 // --sampler: a name of NamedSampler
  std::optional<uint64_t> seed;        // --seed: a negative one modulo 2^64, as torch takes it
  uint64_t epoch_from = 0;             // --epoch-from: the epoch that is read next
  uint64_t world_size = 1;             // --world-size: ranks of the whole run
  std::vector<uint64_t> ranks;         // --ranks: those of this host, ascending; all of them if it is not given
  bool drop_last = false;              // --drop-last
  bool same_epoch = false;             // --same-epoch: set_epoch is not called, so every epoch is epoch 0 again
  bool split_batches = false;          // --split-batches, of accelerate
  std::optional<uint64_t> batch;       // --batch-size: of one rank; with --split-batches of all
  std::optional<uint64_t> position;    // --position: output of the stream, see DrawnSeed
  std::optional<uint64_t> stride;      // --stride: outputs of the stream from epoch to epoch
  std::optional<uint64_t> draws;       // --draws: indices an epoch (num_samples of a RandomSampler)
  std::optional<uint64_t> split_seed;  // --split-seed: of the generator that a random_split of the samples was given
  uint64_t split_from = 0;             // --split-from: the first place of the part that is read
  std::optional<uint64_t> split_size;  // --split-size: how many samples it has
  std::optional<uint64_t> buffer;      // --buffer: elements in the shuffle buffer of tf.data or webdataset

  // The seed, of a sampler that has none of its own. kInvalid: there is none, or for NeededSeed32, which is for NumPy
  // and Keras, one of 2^32 or more.
  Result<uint64_t> NeededSeed() const;
  Result<uint32_t> NeededSeed32() const;
};

// Reads "--seed 42 --world-size=8 ...". kInvalid: a word that is no option, a missing or bad value, ranks that are not
// below the world size; the text says which words and values are accepted.
Result<SamplerHint> ParseSamplerHint(std::span<const std::string> words);

}  // namespace augur
