#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One epoch of a shuffled DataLoader whose reads are timed and checked, for kills.py.

    bench/kills_epoch.py --root DIR --sums FILE --seed N --workers N

FILE is a JSON object of paths below DIR and their SHA-256. For each batch it prints a line, a JSON list with a row for each file:
[when the read began by the monotonic clock, how many seconds it took, "right", "wrong" or the error]. Then it waits for a line of its input.
"""

import argparse
import hashlib
import json
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

BATCH = 8


class TimedFiles(Dataset):
    """A file's read is its open, all its bytes, and its close."""

    def __init__(self, root, sums):
        self.root, self.items = root, sorted(sums.items())

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        path, wanted = self.items[index]
        began = time.monotonic()
        try:
            with open(os.path.join(self.root, path), "rb") as file:
                content = file.read()
        except OSError as failure:
            return [began, time.monotonic() - began, str(failure)]
        took = time.monotonic() - began
        return [began, took, "right" if hashlib.sha256(content).hexdigest() == wanted else "wrong"]


def main():
    parser = argparse.ArgumentParser(description="One epoch of a shuffled DataLoader whose reads are timed and checked.")
    parser.add_argument("--root", required=True, metavar="DIR")
    parser.add_argument("--sums", required=True, metavar="FILE")
    parser.add_argument("--seed", type=int, required=True, metavar="N")
    parser.add_argument("--workers", type=int, required=True, metavar="N")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    with open(args.sums, encoding="utf-8") as file:
        files = TimedFiles(args.root, json.load(file))
    for batch in DataLoader(files, batch_size=BATCH, shuffle=True, num_workers=args.workers, collate_fn=list):
        print(json.dumps(batch), flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    main()
