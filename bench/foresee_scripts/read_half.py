# SPDX-License-Identifier: Apache-2.0
"""Somebody reads every second file of a tree, in no order that anybody would foresee (of that of their names the other half would be
brought in vain), and goes."""

import os
import random
import sys

paths = sorted(os.path.join(where, name) for where, folders, files in os.walk(sys.argv[1]) if ".augur" not in where for name in files)
half = paths[::2]
random.Random(1).shuffle(half)
for path in half:
    with open(path, "rb") as file:
        file.read()
