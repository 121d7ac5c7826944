# SPDX-License-Identifier: Apache-2.0
"""Reads all samples of an HDF5 file by worker processes that share the work, in an order that is shuffled:
h5_workers.py PATH early|late fork|spawn WORKERS. `early` opens the file before the workers start, `late` in each of them. The answer is
pickled on standard output: the versions, and {dataset: {(round, number): (type, shape, bytes)}}. It needs no more than h5py, so that an
old Python with an old h5py can run it."""

import multiprocessing
import os
import pickle
import random
import sys

import h5py

ROUNDS = 3
opened = None  # of this process


def open_late(path):
    global opened
    opened = h5py.File(path, "r")


def read(place):
    """One sample: what the file has of it in each dataset that is as long as the labels."""
    number = place[1]
    count = opened["labels"].shape[0]
    found = {}
    for name in ("images", "labels", "encoded"):
        if name in opened and opened[name].shape[0] == count:
            value = opened[name][number]
            found[name] = (str(value.dtype), value.shape, value.tobytes())
    return place, found


def main(path, when, method, workers):
    global opened
    with h5py.File(path, "r") as file:
        count = file["labels"].shape[0]
    places = [(turn, number) for turn in range(ROUNDS) for number in range(count)]
    random.Random(4).shuffle(places)
    context = multiprocessing.get_context(method)
    if when == "early":
        opened = h5py.File(path, "r")
        pool = context.Pool(workers)
    else:
        pool = context.Pool(workers, open_late, (path,))
    with open(path, "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # some of it comes from the page cache, some not
    samples = {}
    for place, found in pool.imap_unordered(read, places):
        for name, value in found.items():
            samples.setdefault(name, {})[place] = value
    pool.close()
    pool.join()
    versions = {"h5py": h5py.version.version, "hdf5": h5py.version.hdf5_version, "python": sys.version.split()[0]}
    pickle.dump((versions, samples), sys.stdout.buffer, protocol=4)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
