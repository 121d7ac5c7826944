# SPDX-License-Identifier: Apache-2.0
"""What one reader of wire.py does, in a process of its own: wire_reader.py WHAT FOLDER COUNT. Prints one number, its rate or time.

    isatty    microseconds of os.isatty on a file of the folder, COUNT times: an ioctl, which the kernel passes on to a FUSE daemon
    stat      microseconds of os.stat of a file, each file of the folder once
    read      files a second of open(path, "rb").read(), all files COUNT times in shuffled order, after one pass that is not counted
    load      the same with numpy.load
    images    images a second of an HDF5 file (in the place of the folder) by h5py, all images COUNT times in shuffled order
"""

import os
import random
import sys
import time


def paths_below(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names)


def isatty_us(folder, count):
    with open(paths_below(folder)[0], "rb") as file:
        number = file.fileno()
        begin = time.perf_counter()
        for _ in range(count):
            os.isatty(number)
        return (time.perf_counter() - begin) / count * 1e6


def stat_us(listing):
    """From a list of paths: a walk would look the names up."""
    with open(listing, encoding="utf-8", errors="surrogateescape") as lines:
        paths = [line.rstrip("\n") for line in lines]
    random.Random(1).shuffle(paths)
    begin = time.perf_counter()
    for path in paths:
        os.stat(path)
    return (time.perf_counter() - begin) / len(paths) * 1e6


def files_per_s(folder, count, read_one):
    paths = paths_below(folder)
    for path in paths:
        read_one(path)
    spent = 0.0
    for number in range(count):
        random.Random(number).shuffle(paths)
        begin = time.perf_counter()
        for path in paths:
            read_one(path)
        spent += time.perf_counter() - begin
    return count * len(paths) / spent


def read_one(path):
    with open(path, "rb") as file:
        file.read()


def images_per_s(path, count):
    import h5py

    with h5py.File(path, "r") as file:
        images = file["images"]
        numbers = [number for turn in range(count) for number in random.Random(turn).sample(range(len(images)), len(images))]
        begin = time.perf_counter()
        for number in numbers:
            images[number]
        return len(numbers) / (time.perf_counter() - begin)


def main():
    what, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if what == "isatty":
        figure = isatty_us(folder, count)
    elif what == "stat":
        figure = stat_us(folder)
    elif what == "read":
        figure = files_per_s(folder, count, read_one)
    elif what == "images":
        figure = images_per_s(folder, count)
    else:
        import numpy

        figure = files_per_s(folder, count, numpy.load)
    print(figure)


if __name__ == "__main__":
    main()
