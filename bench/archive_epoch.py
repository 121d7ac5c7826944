# SPDX-License-Identifier: Apache-2.0
"""archive_epoch.py INDEX FOLDER --workers N --seed S [--hashes TIMES] [--rate N]: one shuffled epoch of a DataLoader over samples of archives
in FOLDER, by the JSON file INDEX: [file, offset, bytes] of each member of a tar file, one pread a sample; or [file, number] of each
image of an HDF5 file, by h5py. Each is hashed so many times. --rate: no more than N samples a second, as a training step takes its
time. Prints samples and seconds as JSON. The clock runs from the first batch that is asked for to the last."""

import argparse
import hashlib
import json
import os
import time

import torch
from torch.utils.data import DataLoader, Dataset

BATCH = 64


class Samples(Dataset):
    def __init__(self, index, folder, hashes):
        self.index, self.folder, self.hashes, self.files = index, folder, hashes, {}

    def __len__(self):
        return len(self.index)

    def __getitem__(self, number):
        content = self.read(*self.index[number])
        for _ in range(self.hashes):
            hashlib.sha256(content).digest()
        return len(content)


class Members(Samples):
    def read(self, name, offset, size):
        if name not in self.files:
            self.files[name] = os.open(os.path.join(self.folder, name), os.O_RDONLY)
        content = os.pread(self.files[name], size, offset)
        if len(content) != size:
            raise OSError(f"{name}, {offset}: short")
        return content


class Images(Samples):
    def read(self, name, number):
        import h5py

        if name not in self.files:
            self.files[name] = h5py.File(os.path.join(self.folder, name), "r")["images"]
        return self.files[name][number].data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("index")
    parser.add_argument("folder")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--hashes", type=int, default=1, metavar="TIMES")
    parser.add_argument("--rate", type=float, default=0, metavar="N")
    args = parser.parse_args()
    with open(args.index, encoding="utf-8") as file:
        index = json.load(file)
    samples = (Members if len(index[0]) == 3 else Images)(index, args.folder, args.hashes)
    torch.manual_seed(args.seed)
    loader = DataLoader(samples, BATCH, shuffle=True, num_workers=args.workers)
    begin, count = time.monotonic(), 0
    for batch in loader:
        count += len(batch)
        if args.rate:
            time.sleep(max(0.0, begin + count / args.rate - time.monotonic()))
    print(json.dumps({"samples": count, "seconds": time.monotonic() - begin}))


if __name__ == "__main__":
    main()
