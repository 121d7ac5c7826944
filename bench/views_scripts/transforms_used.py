# SPDX-License-Identifier: Apache-2.0
"""The transforms of all PyTorch scripts here: the usual ones of training and of validation, on Pillow's images."""

from torchvision import transforms

from transforms_free import MEAN, SIDE, STD

TRAINING = transforms.Compose([
    transforms.RandomResizedCrop(SIDE),
    transforms.RandomHorizontalFlip(),
    transforms.ToTensor(),
    transforms.Normalize(MEAN, STD),
])
VALIDATION = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(SIDE), transforms.ToTensor(), transforms.Normalize(MEAN, STD)])
