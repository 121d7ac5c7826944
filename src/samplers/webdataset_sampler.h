// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "samplers/sampler.h"

namespace augur {

struct SamplerFamily;

// WebdatasetSampler is webdataset's WebDataset(urls, shardshuffle=...): samples are here the shards. Each of n workers
// takes every n-th shard of the list, through a buffer from which Python's random picks. With several workers, indices
// are one of each in turn. Without a seed webdataset draws one below kSeedsWithout by random.randint, and each worker
// process may draw another. A shuffle of samples comes after the shards are read.
//
// Source: webdataset/compat.py, filters.py (_shuffle, pick, detshuffle) of webdataset 0.2 to 1.0.
class WebdatasetSampler final : public Sampler {
 public:
  struct Recipe {
    uint64_t seed = 0;
    uint64_t buffer_shards = 100;   // shardshuffle
    uint64_t initial_shards = 100;  // shards in the buffer before the first is picked
    bool seed_plus_epoch = false;   // detshuffle=True
    uint64_t workers = 1;           // of all ranks together
  };

  // random.randint(0, 1000000) includes both ends.
  static constexpr uint32_t kSeedsWithout = 1000001;

  // REQUIRES: workers > 0, buffer_shards > 0.
  explicit WebdatasetSampler(Recipe recipe);

  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override;
  std::string Describe() const override;

 private:
  // The places, in the list of one worker, of the first `count` of `shards` shards.
  IndexOrder TakePlaces(uint64_t shards, uint64_t epoch, size_t count) const;

  const Recipe recipe_;
};

// For the table in sampler_registry.cc.
extern const SamplerFamily kWebdatasetFamily;

}  // namespace augur
