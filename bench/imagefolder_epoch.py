#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Epochs of an unmodified torchvision ImageFolder from two or more folders, in turn.

    bench/imagefolder_epoch.py [--rounds N] [--check] folder=/data/train mount=/mnt/train

The transform is the usual one for training (RandomResizedCrop, flip, ToTensor, Normalize), the loader shuffles, and every
folder gets the same seeds, so that all of them decode and crop the same. --check compares all samples first, which also
brings them into the page cache. The median of the rounds counts, and ratios are to the first folder.
"""

import argparse
import hashlib
import json
import os
import statistics
import sys
import time

import torch
import torchvision
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

BATCH = 32
SIDE = 224
TRAINING = transforms.Compose([
    transforms.RandomResizedCrop(SIDE),
    transforms.RandomHorizontalFlip(),
    transforms.ToTensor(),
    transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
])
VALIDATION = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(SIDE), transforms.ToTensor()])


def workers_that_fit(wanted):
    """Workers hand batches over in /dev/shm, two each and one under way; a container often has 64 MB of it, or none."""
    batch_bytes = BATCH * 3 * SIDE * SIDE * 4
    try:
        info = os.statvfs("/dev/shm")
        free = info.f_bavail * info.f_frsize
    except OSError:
        free = 0
    return min(wanted, int(free // (3 * batch_bytes)))


def epoch(path, seed, workers):
    """One pass over the folder; returns (seconds, samples, a number that differs when the labels came in another order)."""
    torch.manual_seed(seed)
    loader = DataLoader(ImageFolder(path, TRAINING), batch_size=BATCH, shuffle=True, num_workers=workers)
    start = time.perf_counter()
    samples, order = 0, 0
    for images, labels in loader:
        samples += len(labels)
        order = (order * 31 + int((labels * torch.arange(1, len(labels) + 1)).sum())) % (2**61)
    return time.perf_counter() - start, samples, order


def fingerprints(path, workers):
    """[(path below the folder, label, hash of the pixels), ...] of all samples, without any chance in the transform."""
    data = ImageFolder(path, VALIDATION)
    found = []
    for images, labels in DataLoader(data, batch_size=BATCH, num_workers=workers):
        for image, label in zip(images, labels):
            name = os.path.relpath(data.samples[len(found)][0], path)
            found.append((name, int(label), hashlib.blake2b(image.numpy().tobytes(), digest_size=16).hexdigest()))
    return found


def check(folders, workers):
    """Compares all samples; ends the program when one differs."""
    names = list(folders)
    first = fingerprints(folders[names[0]], workers)
    for name in names[1:]:
        other = fingerprints(folders[name], workers)
        if len(other) != len(first):
            sys.exit(f"imagefolder_epoch.py: {name} has {len(other)} samples, {names[0]} has {len(first)}")
        for one, two in zip(first, other):
            if one != two:
                sys.exit(f"imagefolder_epoch.py: sample {one[0]} of {names[0]} (label {one[1]}) differs from {two[0]} of {name} (label {two[1]})")
    return len(first)


def main():
    parser = argparse.ArgumentParser(description="Epochs of torchvision's ImageFolder from several folders, in turn.")
    parser.add_argument("folders", nargs="+", metavar="NAME=PATH")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--workers", type=int, default=min(4, len(os.sched_getaffinity(0))), metavar="N")
    parser.add_argument("--check", action="store_true", help="first compare every sample and label")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    args = parser.parse_args()
    folders = dict(item.split("=", 1) for item in args.folders)
    workers = workers_that_fit(args.workers)
    torch.set_num_threads(1)

    def say(text, end="\n"):
        if not args.json:
            print(text, end=end, flush=True)

    say(f"PyTorch {torch.__version__}, torchvision {torchvision.__version__}, {workers} worker processes" +
        (f" ({args.workers} do not fit into /dev/shm)" if workers < args.workers else ""))
    result = {"torch": torch.__version__, "torchvision": torchvision.__version__, "workers": workers}
    if args.check:
        result["equal_samples"] = check(folders, workers)
        say(f"All {result['equal_samples']:,} samples and labels are equal, compared by a hash of their pixels.")

    say("\nphotographs per second   " + "".join(f"{name:>12}" for name in folders))
    rates = {name: [] for name in folders}
    for number in range(args.rounds):
        orders = set()
        # There and back again: what the machine does beside us then weighs on no folder more than on another.
        for name in (list(folders) if number % 2 == 0 else reversed(folders)):
            seconds, samples, order = epoch(folders[name], number, workers)
            rates[name].append(samples / seconds)
            orders.add((samples, order))
        say(f"  epoch {number + 1:<17}" + "".join(f"{rates[name][-1]:12.0f}" for name in folders))
        if len(orders) != 1:
            sys.exit("imagefolder_epoch.py: the folders gave labels in different orders")
    medians = {name: statistics.median(values) for name, values in rates.items()}
    base = next(iter(medians.values()))
    say("  median                 " + "".join(f"{value:12.0f}" for value in medians.values()))
    say(f"  ratio to {next(iter(folders)):<13} " + "".join(f"{value / base:12.3f}" for value in medians.values()))
    result.update(rates=rates, median=medians, ratio={name: value / base for name, value in medians.items()})
    if args.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
