# SPDX-License-Identifier: Apache-2.0
"""A training script whose reads are told to stream_probe: who read which file, as the kernel would say it.

read_traced.py FOLDER READS SYNC KIND WORKERS: FOLDER has files named by numbers; READS is a FIFO to the probe, SYNC one of
this process's own from it. Prints what each process read in each epoch.
"""

import collections
import json
import os
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

folder, reads, sync, kind, workers = *sys.argv[1:5], int(sys.argv[5])
EPOCHS, FILES, VALIDATION = 3, 240, 60


class Files(Dataset):
    def __init__(self, first, count):
        self.first, self.count = first, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        file = self.first + index
        with open(f"{folder}/{file}", "rb") as opened:
            opened.read()
        now_us = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
        # Shorter than PIPE_BUF: lines of several processes do not mix.
        os.write(told, f"{threading.get_native_id()} {file} {now_us}\n".encode())
        return os.getpid(), file


def wait_for_probe():
    """The processes that have read still live when the probe asks for them."""
    os.write(told, f"sync {sync}\n".encode())
    assert answers.readline() == "ok\n"


told = os.open(reads, os.O_WRONLY)
rank, world_size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
options = {"batch_size": 8, "num_workers": workers}
if workers:
    options |= {"multiprocessing_context": "spawn" if kind == "spawn" else "fork", "persistent_workers": kind == "persistent"}
files = Files(0, FILES)
sampler = DistributedSampler(files, world_size, rank) if world_size > 1 else None
loader = DataLoader(files, shuffle=sampler is None, sampler=sampler, **options)
validation = DataLoader(Files(FILES, VALIDATION), **options) if kind == "validation" else None
seen = []


def run_epoch(loader):
    by_process = collections.defaultdict(list)
    for pids, numbers in loader:
        for pid, number in zip(pids.tolist(), numbers.tolist()):
            by_process[pid].append(number)
        wait_for_probe()
    seen.append(by_process)


if __name__ == "__main__":
    answers = open(sync, encoding="ascii")
    torch.manual_seed(1)
    for epoch in range(EPOCHS):
        if sampler:
            sampler.set_epoch(epoch)
        run_epoch(loader)
        if validation:
            run_epoch(validation)
    print(json.dumps({"script": os.getpid(), "epochs": seen}))
