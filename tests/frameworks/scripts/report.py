# SPDX-License-Identifier: Apache-2.0
"""What the scripts here share: a run is a list of samples, and a script writes all its runs as one JSON file.

Every script is called as SCRIPT TREE RESULT and knows nothing of AugurFS: it reads TREE as any folder.
"""

import hashlib
import json
import os
import sys

tree = os.path.abspath(sys.argv[1])
train = os.path.join(tree, "train")
odd = os.path.join(tree, "odd")
runs = {}


def digest(data):
    """Hash of an array (its shape and type too) or of bytes."""
    if hasattr(data, "numpy"):
        data = data.numpy()
    if hasattr(data, "tobytes") and hasattr(data, "shape"):
        data = repr((data.shape, str(data.dtype))).encode() + data.tobytes()
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def relative(path):
    """The path below the tree: the one thing in which the folder and the mount differ."""
    return os.path.relpath(os.fsdecode(path), tree)


def outcome(function):
    """What the function returns, or the kind of its failure: that must be the same, too."""
    try:
        return function()
    except Exception as failure:  # noqa: BLE001: every failure of a decoder counts
        return type(failure).__name__


def add(run, *sample):
    runs.setdefault(run, []).append(list(sample))


def files_below(folder):
    """Every path below the folder that is not a directory, links too, in the order of os.walk with sorted names."""
    for where, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            yield os.path.join(where, name)


def write():
    with open(sys.argv[2], "w", encoding="ascii") as out:
        json.dump(runs, out)
