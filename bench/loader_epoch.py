#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One epoch of a PyTorch DataLoader whose order is known beforehand.

    bench/loader_epoch.py --root DIR --listing FILE --kind jpeg|npy --seed N --write-order ORDER
    bench/loader_epoch.py --root DIR --listing FILE --kind jpeg|npy --seed N [--hint 'augurctl hint DIR --order ORDER']
    bench/loader_epoch.py --make-arrays N DIR

The loader shuffles by RandomSampler with a generator of this seed, so the order can be written without reading a file. The clock
starts when everything is imported and before --hint is run, and the first batch counts from there. Prints one JSON object.
"""

import argparse
import json
import os
import shlex
import subprocess
import time
import zlib

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, RandomSampler

from imagefolder_epoch import BATCH, SIDE, TRAINING, workers_that_fit


class Files(Dataset):
    """The files of a listing, as tensors."""

    def __init__(self, root, listing, kind):
        with open(listing, encoding="utf-8", errors="surrogateescape") as lines:
            self.names = [line.rstrip("\n") for line in lines]
        self.root, self.kind = root, kind

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        path = os.path.join(self.root, self.names[index])
        if self.kind == "npy":
            return torch.from_numpy(numpy.load(path)).permute(2, 0, 1).float()
        with Image.open(path) as image:
            return TRAINING(image.convert("RGB"))


def sampler_of(data, seed):
    return RandomSampler(data, generator=torch.Generator().manual_seed(seed))


def make_arrays(count, folder):
    """Random arrays of the size of a training image, 100 a folder."""
    for number in range(count):
        where = os.path.join(folder, f"{number // 100:04}")
        os.makedirs(where, exist_ok=True)
        numpy.save(os.path.join(where, f"{number:07}.npy"), numpy.random.default_rng(number).integers(0, 256, (SIDE, SIDE, 3), numpy.uint8))


def epoch(data, seed, workers, hint):
    """Runs the epoch; what it took, and a number that differs when the samples or their order differ."""
    torch.manual_seed(seed)  # for the crops
    loader = DataLoader(data, batch_size=BATCH, sampler=sampler_of(data, seed), num_workers=workers)
    checksum, samples, waited, first = 0, 0, 0.0, None
    start = time.perf_counter()
    if hint:
        subprocess.run(shlex.split(hint), check=True, stdout=subprocess.DEVNULL)
    batches = iter(loader)
    asked = start
    while True:
        batch = next(batches, None)
        now = time.perf_counter()
        waited += now - asked
        if batch is None:
            break
        first = first if first is not None else now - start
        samples += len(batch)
        checksum = zlib.crc32(batch[:, 0, ::37, ::41].numpy().tobytes(), checksum)
        asked = time.perf_counter()
    return {"samples": samples, "checksum": checksum, "first_batch_s": first, "epoch_s": now - start, "waited_s": waited}


def main():
    parser = argparse.ArgumentParser(description="One epoch of a PyTorch DataLoader whose order is known beforehand.")
    parser.add_argument("--root", metavar="DIR")
    parser.add_argument("--listing", metavar="FILE", help="paths below the root, one a line")
    parser.add_argument("--kind", choices=["jpeg", "npy"], default="jpeg")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--workers", type=int, default=min(4, len(os.sched_getaffinity(0))), metavar="N")
    parser.add_argument("--write-order", metavar="FILE", help="write the order of the epoch and read nothing")
    parser.add_argument("--hint", metavar="COMMAND", help="run this first; its time counts")
    parser.add_argument("--make-arrays", nargs=2, metavar=("N", "DIR"))
    args = parser.parse_args()
    if args.make_arrays:
        make_arrays(int(args.make_arrays[0]), args.make_arrays[1])
        return
    torch.set_num_threads(1)
    data = Files(args.root, args.listing, args.kind)
    if args.write_order:
        with open(args.write_order, "w", encoding="utf-8", errors="surrogateescape") as out:
            out.writelines(data.names[index] + "\n" for index in sampler_of(data, args.seed))
        return
    print(json.dumps(epoch(data, args.seed, workers_that_fit(args.workers), args.hint)))


if __name__ == "__main__":
    main()
