# SPDX-License-Identifier: Apache-2.0
"""endless_reader.py FOLDER [decode [WORKERS]]: reads the files of a folder in an order of its own, over and over, until it is killed.

What it has read it drops from the page cache, so that each pass asks the daemon. `decode`: as a script that decodes in Python.
WORKERS: so many processes of its own read, each the whole folder, and end with it."""

import ctypes
import os
import pathlib
import random
import signal
import sys

names = [path for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")) if path.is_file() and ".augur" not in path.parts]
decodes = sys.argv[2:3] == ["decode"]
if decodes:
    from PIL import Image
PR_SET_PDEATHSIG = 1
if sys.argv[3:]:
    for _ in range(int(sys.argv[3])):
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            random.seed()
            break
    else:
        while True:
            signal.pause()
while True:
    random.shuffle(names)
    for name in names:
        with open(name, "rb") as file:
            if decodes:
                Image.open(file).convert("RGB").resize((224, 224), Image.BICUBIC)
            file.seek(0)
            file.read()
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
