# SPDX-License-Identifier: Apache-2.0
"""Pillow, by path and by file object, on every file of the tree."""

import report
from PIL import Image


def pixels(source):
    with Image.open(source) as image:
        image.load()
        return [image.mode, image.size, image.getexif().get(0x0112), report.digest(image.tobytes())]


def from_object(path):
    with open(path, "rb") as file:
        return pixels(file)


for path in report.files_below(report.tree):
    report.add("by_path", report.relative(path), report.outcome(lambda p=path: pixels(p)))
    report.add("by_file_object", report.relative(path), report.outcome(lambda p=path: from_object(p)))
report.write()
