# SPDX-License-Identifier: Apache-2.0
"""loader_reload.py MOUNT: epochs of a DataLoader with 4 workers over the files of MOUNT that reload_fixtures.py makes, until stdin ends.
Prints a line for each epoch that begins; then a line that comes says which version is shown from now on. A worker fails at an error, at
a byte of no version, and at one of a version that was shown before the epoch began."""

import os
import pathlib
import select
import sys

from torch.utils.data import DataLoader, Dataset

from reload_fixtures import bytes_of, changes


class Files(Dataset):
    def __init__(self, folder, oldest):
        self.folder, self.oldest = pathlib.Path(folder), oldest
        self.paths = sorted(str(path.relative_to(folder)) for path in self.folder.glob("f*/[0-9]*"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        data = (self.folder / path).read_bytes()
        versions = range(self.oldest, self.oldest + 10) if changes(path) else [0]
        if all(data != bytes_of(path, version) for version in versions):
            raise ValueError(f"{path}: wrong bytes")
        return index


def told(shown):
    """The version that is shown, as the last line that has come says; nothing when stdin has ended. Not by a thread: workers are forked,
    and would wait for its lock."""
    while select.select([0], [], [], 0)[0]:
        line = os.read(0, 100).decode()
        if not line:
            return None
        shown = int(line.split()[-1])
    return shown


def main():
    shown = 0
    while shown is not None:
        files = Files(sys.argv[1], shown)
        print("begins", flush=True)
        seen = []
        for batch in DataLoader(files, batch_size=10, shuffle=True, num_workers=4, prefetch_factor=2):
            seen += batch.tolist()
        if sorted(seen) != list(range(len(files))) or len(files) < 100:
            raise ValueError("not every file was read once")
        shown = told(shown)


if __name__ == "__main__":
    main()
