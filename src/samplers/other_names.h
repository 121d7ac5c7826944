// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "samplers/sampler_description.h"

namespace augur {

// The samplers of NumPy, Python, fastai, TensorFlow, Keras, DALI, webdataset, fairseq, FFCV and Hugging Face datasets.
std::vector<NamedSampler> OtherNames();

}  // namespace augur
