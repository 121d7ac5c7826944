# SPDX-License-Identifier: Apache-2.0
"""loader_epoch.py SUMS FOLDER: one epoch of a DataLoader with 4 workers over the files that the JSON file SUMS names, each with its
SHA-256, below FOLDER. A line for each batch; then it waits for a line. A worker fails at a wrong byte or an error."""

import hashlib
import json
import pathlib
import sys

from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __init__(self, sums, folder):
        self.items = sorted(sums.items())
        self.folder = pathlib.Path(folder)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        path, wanted = self.items[index]
        if hashlib.sha256((self.folder / path).read_bytes()).hexdigest() != wanted:
            raise ValueError(f"{path}: wrong bytes")
        return index


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        files = Files(json.load(file), sys.argv[2])
    seen = []
    for batch in DataLoader(files, batch_size=10, shuffle=True, num_workers=4, prefetch_factor=2):
        seen += batch.tolist()
        print(len(seen), flush=True)
        sys.stdin.readline()
    if sorted(seen) != list(range(len(files))):
        raise ValueError("not every file was read once")


if __name__ == "__main__":
    main()
