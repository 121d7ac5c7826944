# SPDX-License-Identifier: Apache-2.0
"""Large JPEGs: the photographs of dataset.py, enlarged by Pillow. Prints [[width, height], ...]."""

import argparse
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import dataset  # noqa: E402
from PIL import Image  # noqa: E402

Image.MAX_IMAGE_PIXELS = None
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder")
parser.add_argument("--images", type=int, required=True)
parser.add_argument("--megapixels", type=float, required=True)
args = parser.parse_args()

sizes = []
subjects = sorted(dataset.SUBJECTS)
os.makedirs(args.folder)
for number in range(args.images):
    images = pathlib.Path(dataset.PHOTOS) / subjects[number % len(subjects)] / "contents" / "images"
    largest = max(images.glob("*.jpg"), key=lambda path: int(path.name.split("x")[0]))
    with Image.open(largest) as opened:
        # Each a little larger than the one before, so that no two files are the same.
        scale = (args.megapixels * 1e6 / (opened.width * opened.height)) ** 0.5 + number * 1e-3
        photo = opened.convert("RGB").resize((round(opened.width * scale), round(opened.height * scale)), Image.Resampling.BICUBIC)
    photo.save(os.path.join(args.folder, f"large-{number:02}.jpg"), quality=90)
    sizes.append(photo.size)
print(json.dumps(sizes))
