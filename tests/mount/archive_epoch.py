# SPDX-License-Identifier: Apache-2.0
"""archive_epoch.py INDEX FOLDER WORKERS SEED BATCH: one shuffled epoch of a DataLoader over an archive in FOLDER. The JSON file INDEX
has the samples: [file, offset, bytes, SHA-256] of each, of tar files, one pread a sample; or [file, number, SHA-256] of each, of
the array `images` of an HDF5 file, by h5py. A line for each batch; then it waits for a line. It fails at a wrong byte or an error."""

import hashlib
import json
import os
import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    """What was there is compared with its SHA-256, the last of the index."""

    def __init__(self, index, folder):
        self.index, self.folder, self.files = index, folder, {}

    def __len__(self):
        return len(self.index)

    def __getitem__(self, number):
        name, *place, wanted = self.index[number]
        if hashlib.sha256(self.read(name, *place)).hexdigest() != wanted:
            raise ValueError(f"{name}, {place}: wrong bytes")
        return number


class Members(Samples):
    def read(self, name, offset, size):
        if name not in self.files:
            self.files[name] = os.open(os.path.join(self.folder, name), os.O_RDONLY)
        return os.pread(self.files[name], size, offset)


class Images(Samples):
    def read(self, name, number):
        import h5py

        if name not in self.files:
            self.files[name] = h5py.File(os.path.join(self.folder, name), "r")["images"]
        return self.files[name][number].tobytes()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        index = json.load(file)
    samples = (Members if len(index[0]) == 4 else Images)(index, sys.argv[2])
    torch.manual_seed(int(sys.argv[4]))
    seen = []
    for batch in DataLoader(samples, batch_size=int(sys.argv[5]), shuffle=True, num_workers=int(sys.argv[3])):
        seen += batch.tolist()
        print(len(seen), flush=True)
        sys.stdin.readline()
    if sorted(seen) != list(range(len(samples))):
        raise ValueError("not every sample was read once")


if __name__ == "__main__":
    main()
