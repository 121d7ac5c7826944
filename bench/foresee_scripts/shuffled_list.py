# SPDX-License-Identifier: Apache-2.0
"""A sorted list of files, shuffled before each epoch by NumPy or by Python, read one by one."""

import argparse
import glob
import os
import random

from reading import EPOCHS, read_bytes, say, use_up

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("by", choices=["numpy", "python"])
parser.add_argument("--seed", type=int)
args = parser.parse_args()

paths = sorted(glob.glob(os.path.join(args.root, "*", "*")))
if args.by == "numpy":
    import numpy

    numpy.random.seed(args.seed)
    shuffle = numpy.random.shuffle
else:
    random.seed(args.seed)
    shuffle = random.shuffle
epochs = []
for _ in range(EPOCHS):
    shuffle(paths)
    epochs.append(use_up((read_bytes(path) for path in paths), lambda _: 1))
say(epochs)
