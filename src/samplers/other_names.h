// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "samplers/sampler_registry.h"

namespace augur {

// The samplers of NumPy, Python, fastai, TensorFlow, fairseq, FFCV and Hugging Face datasets.
extern const SamplerFamily kOtherFamily;

// Appends the known ones. Prefixes of most of them cost the whole list.
void AddKnownOtherSamplers(std::vector<KnownSampler>* known);

}  // namespace augur
