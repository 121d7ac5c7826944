# SPDX-License-Identifier: Apache-2.0
"""Somebody reads every second file of a tree, in the order of their names, and goes."""

import os
import sys

paths = sorted(os.path.join(where, name) for where, folders, files in os.walk(sys.argv[1]) if ".augur" not in where for name in files)
for path in paths[::2]:
    with open(path, "rb") as file:
        file.read()
