// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "decode/image.h"

namespace augur {

// Where a crop of `crop` pixels around the middle of a side of `side` pixels begins. Below 0: the side is too short and
// that many zeros come before it (and the rest, one more where the number is odd, behind it). Half a pixel goes to the
// even side, as Python's round does. Source: center_crop of torchvision/transforms/functional.py.
int64_t CenterCropBegin(uint32_t side, uint32_t crop);

// The `width` x `height` pixels around the middle, with zeros where `image` is smaller: torchvision's CenterCrop.
Image CenterCrop(const Image& image, uint32_t width, uint32_t height);

}  // namespace augur
