# SPDX-License-Identifier: Apache-2.0
"""endless_reader.py FOLDER [decode]: reads the files of a folder in an order of its own, over and over, until it is killed.

What it has read it drops from the page cache, so that each pass asks the daemon. `decode`: as a script that decodes in Python."""

import os
import pathlib
import random
import sys

names = [path for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")) if path.is_file() and ".augur" not in path.parts]
decodes = sys.argv[2:] == ["decode"]
if decodes:
    from PIL import Image
while True:
    random.shuffle(names)
    for name in names:
        with open(name, "rb") as file:
            if decodes:
                Image.open(file).convert("RGB").resize((224, 224), Image.BICUBIC)
            file.seek(0)
            file.read()
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
