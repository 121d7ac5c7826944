# SPDX-License-Identifier: Apache-2.0
"""archive_epoch.py INDEX FOLDER --workers N --seed S [--work TIMES] [--rate N]: one shuffled epoch of a DataLoader over members of archives in
FOLDER, by the JSON file INDEX ([file, offset, bytes] of each), one pread a sample, which is hashed so many times. --rate: no more
than N samples a second, as a training step takes its time. Prints samples and seconds as JSON. The clock runs from the first batch that is asked for to the last."""

import argparse
import hashlib
import json
import os
import time

import torch
from torch.utils.data import DataLoader, Dataset

BATCH = 64


class Members(Dataset):
    def __init__(self, index, folder, work):
        self.index, self.work = index, work
        self.files = {name: os.open(os.path.join(folder, name), os.O_RDONLY) for name in {one[0] for one in index}}

    def __len__(self):
        return len(self.index)

    def __getitem__(self, number):
        name, offset, size = self.index[number]
        content = os.pread(self.files[name], size, offset)
        if len(content) != size:
            raise OSError(f"{name}, {offset}: short")
        for _ in range(self.work):
            hashlib.sha256(content).digest()
        return size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("index")
    parser.add_argument("folder")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--work", type=int, default=1, metavar="TIMES")
    parser.add_argument("--rate", type=float, default=0, metavar="N")
    args = parser.parse_args()
    with open(args.index, encoding="utf-8") as file:
        members = Members(json.load(file), args.folder, args.work)
    torch.manual_seed(args.seed)
    loader = DataLoader(members, BATCH, shuffle=True, num_workers=args.workers)
    begin, samples = time.monotonic(), 0
    for batch in loader:
        samples += len(batch)
        if args.rate:
            time.sleep(max(0.0, begin + samples / args.rate - time.monotonic()))
    print(json.dumps({"samples": samples, "seconds": time.monotonic() - begin}))


if __name__ == "__main__":
    main()
