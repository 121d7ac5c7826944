# SPDX-License-Identifier: Apache-2.0
"""NumPy: .npy files loaded, mapped, and mapped in part; raw files mapped."""

import os

import numpy
import report

for path in report.files_below(os.path.join(report.tree, "arrays")):
    name = report.relative(path)
    if not path.endswith(".npy"):
        continue
    loaded = numpy.load(path)
    report.add("load", name, report.digest(loaded))
    mapped = numpy.load(path, mmap_mode="r")
    report.add("memmap", name, report.digest(numpy.array(mapped)))
    rng = numpy.random.default_rng(4)
    flat = numpy.memmap(path, dtype=numpy.uint8, mode="r")
    for start in rng.integers(0, len(flat), 50):  # single pages out of order, as an index into a large array reads
        report.add("memmap_pieces", name, int(start), report.digest(bytes(flat[start:start + 1000])))
    report.add("memmap_readonly", name, report.outcome(lambda p=path: str(numpy.memmap(p, dtype=numpy.uint8, mode="r+").shape)))
for path in report.files_below(report.train):
    report.add("fromfile", report.relative(path), report.digest(numpy.fromfile(path, dtype=numpy.uint8)))
report.write()
