# SPDX-License-Identifier: Apache-2.0
"""One file a sample: .pt by torchvision's DatasetFolder and torch.load, or a Zarr group whose chunks are an image each."""

import argparse
import os

import torch
from reading import BATCH, EPOCHS, note, say, use_up
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets import DatasetFolder


def load(path):
    note()
    return torch.load(path)


class Group(Dataset):
    def __init__(self, root):
        import zarr

        group = zarr.open_group(os.path.join(root, "all.zarr"), mode="r")
        self.images, self.labels = group["images"], group["labels"][:].tolist()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        note()
        return torch.from_numpy(self.images[i]), self.labels[i]


parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("kind", choices=["pt", "zarr"])
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--seed", type=int)
args = parser.parse_args()

if args.seed is not None:
    torch.manual_seed(args.seed)
data = DatasetFolder(args.root, load, extensions=(".pt",)) if args.kind == "pt" else Group(args.root)
loader = DataLoader(data, BATCH, shuffle=True, num_workers=args.workers)
say([use_up(loader) for _ in range(EPOCHS)])
