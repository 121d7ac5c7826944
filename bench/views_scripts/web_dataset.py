# SPDX-License-Identifier: Apache-2.0
"""WebDataset: shards of JPEG, shuffled by shard and in a buffer of 1,000, decoded by Pillow."""

import os
import pathlib

import clock
import torch
import webdataset
from torch.utils.data import DataLoader
from transforms_used import TRAINING

SHARDS = 16  # divisible by the workers: each takes whole shards

parser = clock.parser(__doc__)
args = parser.parse_args()


def make(tree, root):
    """Samples in the order of a shuffle, dealt out to the shards: as its documentation tells to."""
    classes = sorted(path.name for path in pathlib.Path(tree).iterdir() if path.is_dir())
    samples = [(path, number) for number, name in enumerate(classes) for path in sorted((pathlib.Path(tree) / name).iterdir())]
    order = torch.randperm(len(samples), generator=torch.Generator().manual_seed(0)).tolist()
    os.makedirs(root)
    for shard in range(SHARDS):
        with webdataset.TarWriter(os.path.join(root, f"{shard:04}.tar")) as tar:
            for index in order[shard::SHARDS]:
                path, label = samples[index]
                tar.write({"__key__": f"{index:08}", "jpg": path.read_bytes(), "cls": label})


if args.make:
    with clock.quiet_stdout():
        make(args.make, args.root)
else:
    torch.set_num_threads(1)
    shards = sorted(str(path) for path in pathlib.Path(args.root).glob("*.tar"))
    data = (webdataset.WebDataset(shards, shardshuffle=SHARDS).shuffle(1000).decode("pilrgb").to_tuple("jpg", "cls")
            .map_tuple(TRAINING, lambda label: label))
    clock.of_loader(DataLoader(data, batch_size=clock.BATCH, num_workers=args.workers), args.epochs)
