# SPDX-License-Identifier: Apache-2.0
"""The transforms of all PyTorch scripts here: the usual ones of training and of validation, on Pillow's images, and by v2 on tensors."""

import torch
from torchvision import transforms
from torchvision.transforms import v2

from transforms_free import MEAN, SIDE, STD

TRAINING = transforms.Compose([
    transforms.RandomResizedCrop(SIDE),
    transforms.RandomHorizontalFlip(),
    transforms.ToTensor(),
    transforms.Normalize(MEAN, STD),
])
VALIDATION = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(SIDE), transforms.ToTensor(), transforms.Normalize(MEAN, STD)])
# Of a tensor of bytes, as the documentation of v2 recommends: resized as bytes, made floats at the end.
ON_TENSOR = v2.Compose([v2.RandomResizedCrop(SIDE, antialias=True), v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True),
                        v2.Normalize(MEAN, STD)])
