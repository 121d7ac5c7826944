# SPDX-License-Identifier: Apache-2.0
"""h5py: contiguous, chunked and compressed datasets of a .h5 file, whole and in pieces."""

import os

import h5py
import numpy
import report

with h5py.File(os.path.join(report.tree, "arrays", "data.h5"), "r") as file:
    names = []
    file.visit(names.append)
    for name in sorted(names):
        data = file[name]
        if isinstance(data, h5py.Dataset):
            report.add("whole", name, report.digest(data[...]))
            for index in numpy.random.default_rng(2).permutation(len(data))[:40]:
                report.add("pieces", name, int(index), report.digest(numpy.asarray(data[index])))
report.write()
