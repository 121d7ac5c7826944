# SPDX-License-Identifier: Apache-2.0
"""What the scripts of bench/views.py share: their options, and the time of each epoch, as one JSON object on standard output."""

import argparse
import contextlib
import json
import os
import sys
import time

BATCH = 32


def parser(what):
    found = argparse.ArgumentParser(description=what)
    found.add_argument("root", help="what is read: a folder of images or arrays, or what --make has made")
    found.add_argument("--workers", type=int, default=2, metavar="N", help="worker processes or threads (2)")
    found.add_argument("--epochs", type=int, default=2, metavar="N", help="(2)")
    found.add_argument("--make", metavar="TREE", help="make ROOT out of this image folder, and read nothing")
    return found


def from_disks():
    """Bytes that this process and its ended children had a disk read for them. FUSE's are the daemon's."""
    with open("/proc/self/io", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("read_bytes"))


def run(epoch, epochs, **more):
    """Calls `epoch`, which goes through the data once and returns the number of samples, so many times, one after the other."""
    found = []
    for _ in range(epochs):
        disk, start = from_disks(), time.perf_counter()
        samples = epoch()
        seconds = time.perf_counter() - start
        found.append({"samples": samples, "seconds": seconds, "disk_bytes": from_disks() - disk})
    sys.stdout.write(json.dumps({"epochs": found, **more}) + "\n")


def of_loader(loader, epochs, **more):
    """The same for whatever gives batches of (images, labels)."""
    run(lambda: sum(len(labels) for _, labels in loader), epochs, **more)


@contextlib.contextmanager
def quiet_stdout():
    """What libraries print meanwhile goes to stderr, whichever way they print it: standard output is the JSON's."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
