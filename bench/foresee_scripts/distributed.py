# SPDX-License-Identifier: Apache-2.0
"""DistributedSampler in processes that torchrun has started."""

import argparse

import torch
import torch.distributed
from reading import BATCH, EPOCHS, folder, say, use_up
from torch.utils.data import DataLoader, DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--no-set-epoch", action="store_true")
args = parser.parse_args()

torch.distributed.init_process_group("gloo")
data = folder(args.root)
sampler = DistributedSampler(data)
loader = DataLoader(data, BATCH, sampler=sampler, num_workers=args.workers)


def exchange():
    """As gradients are."""
    torch.distributed.all_reduce(torch.zeros(1))


epochs = []
for epoch in range(EPOCHS):
    if not args.no_set_epoch:
        sampler.set_epoch(epoch)
    epochs.append(use_up(loader, after_step=exchange))
say(epochs)
torch.distributed.destroy_process_group()
