// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace augur {

// Indices of samples in the order in which they are read: numbers below the count of samples, each once or, where a
// sampler pads or repeats, more often.
using IndexOrder = std::vector<uint32_t>;

// Sampler is what a data loader draws its epochs from, with all that decides them: the kind of generator, its seed, and
// how an epoch follows from the one before. Immutable, safe from any thread. Knows nothing of files: a sample list says
// which file an index is.
class Sampler {
 public:
  virtual ~Sampler() = default;
  // Replaces *indices by the first `count` indices, fewer at its end, that epoch `epoch` (from 0) takes of `samples`
  // samples, by all ranks together. Costs about `count` steps where the shuffle begins at the front, else `samples`.
  // REQUIRES: 0 < samples < 2^32.
  virtual void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const = 0;
  // For people: "torch DistributedSampler, seed 0 + epoch".
  virtual std::string Describe() const = 0;

  // What Take costs beyond that to come to the beginning of the epoch: random numbers that are stepped over, 0.4 ns
  // each. 0 where it begins at once.
  virtual uint64_t StepsTo(uint64_t /*samples*/, uint64_t /*epoch*/) const { return 0; }

 protected:
  // Of one sample that is shuffled for nothing, 10 ns.
  static constexpr uint64_t kStepsAShuffledSample = 25;
};

// Moves a sampler to where several owners can hold it.
template <typename Made>
std::shared_ptr<const Sampler> SharedSampler(Made sampler) {
  return std::make_shared<const Made>(std::move(sampler));
}

}  // namespace augur
