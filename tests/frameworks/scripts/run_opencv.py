# SPDX-License-Identifier: Apache-2.0
"""OpenCV's imread on every file whose name it can take, and imdecode on all."""

import functools

import cv2
import numpy
import report


def show(image):
    return None if image is None else report.digest(image)


for path in report.files_below(report.tree):
    name = report.relative(path)
    if name == name.encode(errors="replace").decode():  # imread of OpenCV 5.0.0 crashes on a name that is not UTF-8
        read = functools.partial(cv2.imread, path)
        report.add("imread", name, report.outcome(lambda: show(read())))
        report.add("imread_unchanged", name, report.outcome(lambda: show(read(cv2.IMREAD_UNCHANGED))))
    report.add("imdecode", name, report.outcome(lambda p=path: show(cv2.imdecode(numpy.fromfile(p, dtype=numpy.uint8), cv2.IMREAD_COLOR))))
report.write()
