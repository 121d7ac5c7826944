// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "samplers/sampler.h"

namespace augur {

// SplitSampler is a sampler of a part of the samples, after torch.utils.data.random_split and its like. A first sampler
// lays all samples out once, and the part is places [begin, begin + size) of that. A second sampler draws its epochs
// from the part alone. Immutable, safe from any thread. The lay-out is made anew for each prefix that is asked for, so
// that one costs begin + size steps. So it is not for the search of seeds, which takes the laid-out samples as its
// list.
class SplitSampler final : public Sampler {
 public:
  SplitSampler(std::shared_ptr<const Sampler> split, uint64_t begin, uint64_t size,
               std::shared_ptr<const Sampler> sampler);

  // Of a part that lies beyond the end of the samples nothing is taken.
  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override;
  std::string Describe() const override;
  uint64_t StepsTo(uint64_t /*samples*/, uint64_t epoch) const override { return sampler_->StepsTo(size_, epoch); }

 private:
  const std::shared_ptr<const Sampler> split_;
  const uint64_t begin_;
  const uint64_t size_;
  const std::shared_ptr<const Sampler> sampler_;
};

}  // namespace augur
