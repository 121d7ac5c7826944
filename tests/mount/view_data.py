# SPDX-License-Identifier: Apache-2.0
"""A data set of photographs, and what views of it must hold: Pillow says what pixels should be."""

import errno
import hashlib
import io
import os
import random
import re

import numpy
import PIL
from PIL import Image
from prefetching import Prediction
from view_tree import coded, photo

IMAGES = 240
SIDE = 96
PASSES = "passes=pillow13" if int(PIL.__version__.split(".")[0]) >= 13 else "passes=pillow12"
SPEC = f"npy+size={SIDE}x{SIDE}+{PASSES}"  # 27 KB each, 6.7 MB together
LARGE_SPEC = f"npy+size=192x192+{PASSES}"  # 110 KB each, 27 MB together
SMALL = "memory=64M"  # 8 MiB of it for files pushed ahead, some 28 for kept ones


def digest(data):
    return hashlib.blake2b(data).digest()


def npy_of(pixels):
    out = io.BytesIO()
    numpy.save(out, pixels)
    return out.getvalue()


class ViewData:
    """A packed tree of photographs, and what the files of a view of it must hold. Paths are those in the mount."""

    def __init__(self, store, images, spec, prefix):
        side = int(re.search(r"size=(\d+)x", spec)[1])
        self.store = store
        self.sums, self.sizes = {}, {}
        for name, data in images.items():
            pixels = numpy.asarray(Image.open(io.BytesIO(data)).convert("RGB").resize((side, side), Image.BILINEAR))
            path = prefix + name.replace(".JPEG", ".npy")
            self.sums[path] = digest(pixels.tobytes())
            self.sizes[path] = len(npy_of(pixels))
        self.paths = list(self.sums)
        self.bytes = sum(self.sizes.values())

    def shuffled(self, seed):
        paths = list(self.paths)
        random.Random(f"order {seed}").shuffle(paths)
        return paths

    def check(self, point, path):
        assert digest(numpy.load(point / path).tobytes()) == self.sums[path], f"{path}: wrong pixels"


class ViewPrediction(Prediction):
    """Of the view at `place` below the mount."""

    def __init__(self, augurctl, point, place):
        super().__init__(augurctl, point)
        self.place = place

    def assert_reads_ahead(self, data):
        """Most files are in the page cache when they are opened, in one of four epochs: on a machine that has no processor to
        spare, what must be decoded comes late."""
        requests = []  # a file, by epoch
        while len(requests) < 4 and not (requests and requests[-1] <= 0.3):
            order = data.shuffled(len(requests))
            self.hint(order)
            requests.append(self.follow(data, order)[1])
        assert requests[-1] <= 0.3, f"{requests}: {self.status()}"

    def scan(self):
        for folder in sorted((self.point / self.place).iterdir()):
            for file in sorted(folder.iterdir()):
                file.stat()


def make_images():
    """Path to content."""
    chance = random.Random(3)
    return {f"class{number // 60}/{number:04}.JPEG": coded(photo(chance.randrange(40, 200), chance.randrange(40, 200), number), "JPEG")
            for number in range(IMAGES)}


def place_of(spec):
    return f".augur/views/{spec}/"


def extents(path):
    """Where a sparse file has memory."""
    with open(path, "rb") as file:
        end = 0
        while True:
            try:
                begin = os.lseek(file.fileno(), end, os.SEEK_DATA)
            except OSError as error:
                assert error.errno == errno.ENXIO
                return
            end = os.lseek(file.fileno(), begin, os.SEEK_HOLE)
            yield begin, end


def spoil(path, begin, end):
    """Changes a bit of the pixels of each array there. Returns the number of arrays."""
    count = 0
    with open(path, "r+b") as file:
        file.seek(begin)
        content = file.read(end - begin)
        for header in re.finditer(rb"\x93NUMPY", content):
            at = header.start() + 2000
            file.seek(begin + at)
            file.write(bytes([content[at] ^ 1]))
            count += 1
    return count
