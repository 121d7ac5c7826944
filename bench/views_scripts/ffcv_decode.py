# SPDX-License-Identifier: Apache-2.0
"""What FFCV's decoders call for a JPEG field, for decode_peers.py: imdecode (libjpeg-turbo's fast DCT) and resize_crop (OpenCV's
INTER_AREA), on whole images. The names of the files come on standard input, a line each; "256" makes the shorter side 256. Prints images a
second of processor time."""

import sys
import time

import numpy
from ffcv.libffcv import imdecode, resize_crop
from PIL import Image

resized = sys.argv[1:] == ["256"]
images = []
for path in sys.stdin.read().splitlines():
    with Image.open(path) as image:
        width, height = image.size
    short = min(width, height)
    pixels = numpy.empty((height, width, 3), numpy.uint8)
    small = numpy.empty((256 * height // short, 256 * width // short, 3), numpy.uint8)
    images.append((numpy.fromfile(path, numpy.uint8), pixels, small))


def work():
    for file, pixels, small in images:
        height, width, _ = pixels.shape
        if imdecode(file, pixels, height, width, height, width) != 0:
            sys.exit("FFCV decodes none of this")
        if resized:
            resize_crop(pixels, 0, height, 0, width, small)


work()
begin = time.process_time()
work()
print(len(images) / (time.process_time() - begin))
