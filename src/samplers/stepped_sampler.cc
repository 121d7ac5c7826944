// SPDX-License-Identifier: Apache-2.0
#include "samplers/stepped_sampler.h"

namespace augur {

std::string SteppedSampler::Describe() const {
  if (step_ == 0) return sampler_->Describe() + ", its epoch " + std::to_string(epoch_) + " again and again";
  return sampler_->Describe() + ", " + std::to_string(step_) + " of its epochs for each";
}

}  // namespace augur
