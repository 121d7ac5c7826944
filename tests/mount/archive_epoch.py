# SPDX-License-Identifier: Apache-2.0
"""archive_epoch.py INDEX FOLDER WORKERS SEED: one shuffled epoch of a DataLoader over members of tar files in FOLDER, by the JSON file
INDEX: [file, offset, bytes, SHA-256] of each. A sample is one pread. A line for each batch; then it waits for a line. It fails at a
wrong byte or an error."""

import hashlib
import json
import os
import sys

import torch
from torch.utils.data import DataLoader, Dataset

BATCH = 8


class Members(Dataset):
    def __init__(self, index, folder):
        self.index = index
        self.files = {name: os.open(os.path.join(folder, name), os.O_RDONLY) for name in {one[0] for one in index}}

    def __len__(self):
        return len(self.index)

    def __getitem__(self, number):
        name, offset, size, wanted = self.index[number]
        if hashlib.sha256(os.pread(self.files[name], size, offset)).hexdigest() != wanted:
            raise ValueError(f"{name}, {offset}: wrong bytes")
        return number


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        members = Members(json.load(file), sys.argv[2])
    torch.manual_seed(int(sys.argv[4]))
    seen = []
    for batch in DataLoader(members, batch_size=BATCH, shuffle=True, num_workers=int(sys.argv[3])):
        seen += batch.tolist()
        print(len(seen), flush=True)
        sys.stdin.readline()
    if sorted(seen) != list(range(len(members))):
        raise ValueError("not every member was read once")


if __name__ == "__main__":
    main()
