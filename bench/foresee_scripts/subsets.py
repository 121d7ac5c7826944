# SPDX-License-Identifier: Apache-2.0
"""Loaders of a part of a folder, and of a weighted choice. "piece" is one rank's part of the list, as numpy.array_split and Hugging Face
datasets' shard(contiguous=True) cut it."""

import argparse
import collections

import numpy
import torch
from reading import BATCH, EPOCHS, folder, say, use_up
from torch.utils.data import DataLoader, Subset, SubsetRandomSampler, WeightedRandomSampler, random_split

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("what", choices=["subset", "subset-shuffled", "split", "weighted", "piece"])
parser.add_argument("--world-size", type=int, default=1)
parser.add_argument("--rank", type=int, default=0)
parser.add_argument("--seed", type=int)
args = parser.parse_args()

data = folder(args.root)
count = len(data) * 9 // 10
if args.seed is not None:
    torch.manual_seed(args.seed)
if args.what == "subset":
    loader = DataLoader(data, BATCH, sampler=SubsetRandomSampler(range(count)), num_workers=2)
elif args.what == "subset-shuffled":
    # As in a well-known recipe for a validation split.
    indices = list(range(len(data)))
    numpy.random.seed(42)
    numpy.random.shuffle(indices)
    loader = DataLoader(data, BATCH, sampler=SubsetRandomSampler(indices[:count]), num_workers=2)
elif args.what == "split":
    train, _ = random_split(data, [count, len(data) - count], generator=torch.Generator().manual_seed(42))
    loader = DataLoader(train, BATCH, shuffle=True, num_workers=2)
elif args.what == "piece":
    piece = numpy.array_split(numpy.arange(len(data)), args.world_size)[args.rank]
    loader = DataLoader(Subset(data, piece.tolist()), BATCH, num_workers=2)
else:
    files = collections.Counter(data.targets)
    sampler = WeightedRandomSampler([1 / files[target] for target in data.targets], len(data))
    loader = DataLoader(data, BATCH, sampler=sampler, num_workers=2)
say([use_up(loader) for _ in range(EPOCHS)])
