// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shuffle/sampler.h"

namespace augur {

// The settings of MosaicML streaming's shuffle that decide an order.
struct Py1eRecipe {
  uint64_t seed = 9176;          // shuffle_seed
  uint64_t canonical_nodes = 1;  // num_canonical_nodes; streaming's default is the number of nodes
  // shuffle_block_size; streaming's default is the larger of 4,000,000 / num_canonical_nodes and 2^18, or 2^18 where
  // num_canonical_nodes was not given.
  uint64_t block_samples = 1 << 18;
};

// Replaces *indices by the samples of an epoch in the order of shuffle_algo="py1e", which is streaming's default: all
// samples of all shards, numbered from the first of the first shard. Cost: a sort of all samples. Source:
// streaming/base/shuffle/py1e.py, py1s.py (divide_spans) of mosaicml-streaming 0.13.
// REQUIRES: 0 < shard_samples.size(), the sum of the samples below 2^32, each canonical node gets at least one.
void Py1eOrder(const Py1eRecipe& recipe, const std::vector<uint32_t>& shard_samples, uint64_t epoch,
               IndexOrder* indices);

// StreamingShardSampler is StreamingDataset(shuffle=True): samples are here the shards, in the order in which the first
// sample of each is used. How many samples each holds stands in the dataset's index.json. Canonical nodes follow one
// another in it, though where there are several nodes each works on its own.
class StreamingShardSampler final : public Sampler {
 public:
  StreamingShardSampler(Py1eRecipe recipe, std::vector<uint32_t> shard_samples);

  // REQUIRES: `samples` is the number of shards.
  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override;
  std::string Describe() const override;

 private:
  const Py1eRecipe recipe_;
  const std::vector<uint32_t> shard_samples_;
};

}  // namespace augur
