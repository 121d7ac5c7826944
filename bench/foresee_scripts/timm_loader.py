# SPDX-License-Identifier: Apache-2.0
"""timm's folder reader and loader, seeded as its train.py does."""

import timm.data
import timm.utils
from reading import BATCH, EPOCHS, note, say, use_up

import sys

timm.utils.random_seed(42, 0)
data = timm.data.create_dataset("", root=sys.argv[1], load_bytes=True)
loader = timm.data.create_loader(data, input_size=(3, 224, 224), batch_size=BATCH, is_training=True, num_workers=2, use_prefetcher=False)


def size(image):
    note()
    return len(image)


data.transform = size  # instead of the training's, which would decode
say([use_up(loader) for _ in range(EPOCHS)])
