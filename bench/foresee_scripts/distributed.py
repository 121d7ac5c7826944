# SPDX-License-Identifier: Apache-2.0
"""DistributedSampler in processes that torchrun has started, or in one process that reads for one rank of many.

With --world-size the processes are the ranks of one host, from --first-rank on. Those of the other hosts do not run: they would read from
their own mounts.
"""

import argparse
import os

import torch
import torch.distributed
from reading import BATCH, EPOCHS, folder, say, use_up
from torch.utils.data import DataLoader, DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--batch", type=int, default=BATCH)
parser.add_argument("--no-set-epoch", action="store_true")
parser.add_argument("--world-size", type=int)
parser.add_argument("--first-rank", type=int, default=0)
args = parser.parse_args()

is_launched = "LOCAL_RANK" in os.environ
if is_launched:
    torch.distributed.init_process_group("gloo")
data = folder(args.root)
if args.world_size:
    sampler = DistributedSampler(data, args.world_size, args.first_rank + int(os.environ.get("LOCAL_RANK", "0")))
else:
    sampler = DistributedSampler(data)
loader = DataLoader(data, args.batch, sampler=sampler, num_workers=args.workers)


def exchange():
    """As gradients are."""
    if not is_launched:
        return
    torch.distributed.all_reduce(torch.zeros(1))


epochs = []
for epoch in range(EPOCHS):
    if not args.no_set_epoch:
        sampler.set_epoch(epoch)
    epochs.append(use_up(loader, after_step=exchange))
say(epochs)
if is_launched:
    torch.distributed.destroy_process_group()
