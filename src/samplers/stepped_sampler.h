// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "samplers/sampler.h"

namespace augur {

// SteppedSampler is a sampler whose reader counts its epochs otherwise: each is `step` epochs of the sampler behind the
// one before, 0 or more, and epoch `from` is epoch `epoch`. A loop that draws two permutations an epoch takes every
// second one of its generator (step 2); one that never calls set_epoch reads the same one again (step 0). Immutable,
// safe from any thread.
class SteppedSampler final : public Sampler {
 public:
  SteppedSampler(std::shared_ptr<const Sampler> sampler, uint64_t step, uint64_t from, uint64_t epoch)
      : sampler_(std::move(sampler)), step_(step), from_(from), epoch_(epoch) {}

  const std::shared_ptr<const Sampler>& sampler() const { return sampler_; }
  uint64_t step() const { return step_; }
  // The epoch of sampler() that is read as `epoch`. REQUIRES: epoch >= from.
  uint64_t Inner(uint64_t epoch) const { return epoch_ + (epoch - from_) * step_; }

  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override {
    sampler_->Take(samples, Inner(epoch), count, indices);
  }
  std::string Describe() const override;
  uint64_t StepsTo(uint64_t samples, uint64_t epoch) const override { return sampler_->StepsTo(samples, Inner(epoch)); }

 private:
  const std::shared_ptr<const Sampler> sampler_;
  const uint64_t step_;
  const uint64_t from_;
  const uint64_t epoch_;
};

}  // namespace augur
