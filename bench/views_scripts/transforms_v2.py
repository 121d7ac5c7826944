# SPDX-License-Identifier: Apache-2.0
"""The transforms of training on tensors, by torchvision.transforms.v2: torchvision 0.15 or newer, so not Debian 12's own."""

import torch
from torchvision.transforms import v2

from transforms_free import MEAN, SIDE, STD

# Of a tensor of bytes, as the documentation of v2 recommends: resized as bytes, made floats at the end.
ON_TENSOR = v2.Compose([v2.RandomResizedCrop(SIDE, antialias=True), v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True),
                        v2.Normalize(MEAN, STD)])
ON_IMAGE = v2.Compose([v2.PILToTensor(), ON_TENSOR])
