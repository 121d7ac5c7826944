# SPDX-License-Identifier: Apache-2.0
"""Arrays of a view: .pt files by torchvision's DatasetFolder and torch.load, a Zarr group whose chunks are an image each, or one HDF5
file by h5py."""

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
    """The images and labels of a Zarr group, or of an HDF5 file, which are read alike."""

    def __init__(self, group):
        self.images, self.labels = group["images"], group["labels"][:].tolist()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        note()
        return torch.from_numpy(self.images[i]), self.labels[i]


def zarr_group(root):
    import zarr

    return Group(zarr.open_group(os.path.join(root, "all.zarr"), mode="r"))


def h5_file(root):
    import h5py

    return Group(h5py.File(os.path.join(root, "all.h5"), "r"))


DATA = {"pt": lambda root: DatasetFolder(root, load, extensions=(".pt",)), "zarr": zarr_group, "h5": h5_file}

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("kind", choices=DATA)
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--seed", type=int)
args = parser.parse_args()

if args.seed is not None:
    torch.manual_seed(args.seed)
loader = DataLoader(DATA[args.kind](args.root), BATCH, shuffle=True, num_workers=args.workers)
say([use_up(loader) for _ in range(EPOCHS)])
