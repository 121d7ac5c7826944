# SPDX-License-Identifier: Apache-2.0
"""A digest of the pixels of each image below a folder, by its path without the ending; what to compare two folders by.

image: as Image.open(f).convert('RGB') shows it, after --resize N by torchvision's Resize(N); array: as np.load does; tensor: an image by the
validation transform, or an array as it is, both float32; file: the bytes themselves."""

import argparse
import errno
import hashlib
import json
import os

import numpy
from PIL import Image

Image.MAX_IMAGE_PIXELS = None
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("root")
parser.add_argument("--kind", choices=["image", "array", "tensor", "file"], default="image")
parser.add_argument("--resize", type=int, metavar="N")
parser.add_argument("--refused-too", action="store_true", help="a file that cannot be read has no digest, instead of ending the program")
args = parser.parse_args()
if args.resize:
    from torchvision import transforms

    resize = transforms.Resize(args.resize)


def content(path):
    if args.kind == "file":
        with open(path, "rb") as file:
            return file.read()
    if path.endswith(".npy"):
        array = numpy.load(path)
    else:
        with Image.open(path) as image:
            image = image.convert("RGB")
            if args.kind == "tensor":
                from transforms_used import VALIDATION

                array = VALIDATION(image).numpy()
            else:
                array = numpy.asarray(resize(image) if args.resize else image)
    return f"{array.shape} {array.dtype}".encode() + numpy.ascontiguousarray(array).tobytes()


def digest(path):
    try:
        return hashlib.blake2b(content(path), digest_size=16).hexdigest()
    except OSError as error:
        if args.refused_too and error.errno == errno.EIO:
            return None
        raise


print(json.dumps({os.path.splitext(os.path.relpath(os.path.join(where, name), args.root))[0]: digest(os.path.join(where, name))
                  for where, _, names in os.walk(args.root) for name in names}))
