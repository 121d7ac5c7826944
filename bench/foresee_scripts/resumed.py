# SPDX-License-Identifier: Apache-2.0
"""A run that goes on in the middle of its fourth epoch: accelerate skips the batches that were done, and reads none of them."""

import sys

from accelerate import skip_first_batches
from reading import BATCH, EPOCHS, folder, say, use_up
from torch.utils.data import DataLoader, DistributedSampler

data = folder(sys.argv[1])
sampler = DistributedSampler(data, num_replicas=1, rank=0)
loader = DataLoader(data, BATCH, sampler=sampler, num_workers=2)
epochs = []
for epoch in range(3, 3 + EPOCHS):
    sampler.set_epoch(epoch)
    epochs.append(use_up(loader if epochs else skip_first_batches(loader, len(loader) // 2)))
say(epochs)
