// SPDX-License-Identifier: Apache-2.0
#include "samplers/split_sampler.h"

#include <utility>

namespace augur {

SplitSampler::SplitSampler(std::shared_ptr<const Sampler> split, uint64_t begin, uint64_t size,
                           std::shared_ptr<const Sampler> sampler)
    : split_(std::move(split)), begin_(begin), size_(size), sampler_(std::move(sampler)) {}

void SplitSampler::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  IndexOrder places;
  split_->Take(samples, 0, begin_ + size_, &places);
  if (places.size() < begin_ + size_ || size_ == 0) return indices->clear();
  sampler_->Take(size_, epoch, count, indices);
  for (uint32_t& index : *indices) index = places[begin_ + index];
}

std::string SplitSampler::Describe() const {
  return sampler_->Describe() + ", of places " + std::to_string(begin_) + " to " + std::to_string(begin_ + size_ - 1) +
         " of " + split_->Describe();
}

}  // namespace augur
