# SPDX-License-Identifier: Apache-2.0
"""Writes .beton files by DatasetWriter of FFCV into a folder, and wanted.json: of each the paths and bytes that a store of it must have.
The writer encodes each image anew, by OpenCV: the bytes are those of the same call, the labels those that FFCV's reader reads."""

import json
import pathlib
import random
import sys

import cv2
import numpy
from ffcv.fields import BytesField, FloatField, IntField, JSONField, NDArrayField, RGBImageField
from ffcv.reader import Reader
from ffcv.writer import DatasetWriter

FOLDER = pathlib.Path(sys.argv[1])
COUNT = 200
QUALITY = 90


def image_of(i):
    rng = random.Random(int(i))
    height, width = rng.randrange(20, 90), rng.randrange(20, 90)
    return numpy.frombuffer(rng.randbytes(height * width * 3), numpy.uint8).reshape(height, width, 3)


def encoded(i):
    return cv2.imencode(".jpg", cv2.cvtColor(image_of(i), cv2.COLOR_RGB2BGR), [int(cv2.IMWRITE_JPEG_QUALITY), QUALITY])[1].tobytes()


def photograph():
    return RGBImageField(write_mode="jpg", jpeg_quality=QUALITY)


class Samples:
    """Values of the fields in their order."""

    def __init__(self, make, count=COUNT):
        self.make = make
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.make(i)


def label_of(i):
    return i % 7 - 1


def usual(i):
    return image_of(i), label_of(i)


def many(i):
    data = numpy.arange(i % 30 + 1, dtype=numpy.uint8)
    return {"i": int(i)}, i + 1000, image_of(i), data, i / 2, numpy.full(3, i, numpy.float32), label_of(i)


SETS = {
    "usual.beton": (usual, {"image": photograph(), "label": IntField()}, {"num_workers": 1}),
    "workers.beton": (usual, {"image": photograph(), "label": IntField()}, {"num_workers": 3}),
    "many.beton": (many, {"about": JSONField(), "index": IntField(), "photo": photograph(), "data": BytesField(), "weight": FloatField(),
                          "box": NDArrayField(numpy.dtype("float32"), (3,)), "class": IntField()}, {"num_workers": 2, "page_size": 1 << 21}),
}  # fmt: skip


def main():
    wanted = {}
    for name, (make, fields, options) in SETS.items():
        DatasetWriter(str(FOLDER / name), fields, **options).from_indexed_dataset(Samples(make), chunksize=10)
        labels = Reader(str(FOLDER / name)).metadata[f"f{len(fields) - 1}"].tolist()
        assert labels == [label_of(i) for i in range(COUNT)]
        wanted[name] = {(f"{label:06}/" if label >= 0 else "") + f"{i:08}.jpg": encoded(i).hex() for i, label in enumerate(labels)}
    raw = {"image": RGBImageField(write_mode="raw"), "label": IntField()}
    DatasetWriter(str(FOLDER / "raw.beton"), raw, num_workers=1).from_indexed_dataset(Samples(usual, 3))
    (FOLDER / "wanted.json").write_text(json.dumps(wanted))


if __name__ == "__main__":
    main()
