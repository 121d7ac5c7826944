# SPDX-License-Identifier: Apache-2.0
"""Mounts of stores on servers, and the tree that they must show."""

import pathlib
import subprocess

import mounts


def files(tree):
    return {path.relative_to(tree): path for path in sorted(pathlib.Path(tree).rglob("*")) if path.is_file()}


def assert_same_tree(point, tree):
    wanted = files(tree)
    assert files(point).keys() == wanted.keys()
    for name, path in wanted.items():
        assert (point / name).read_bytes() == path.read_bytes(), name
        assert (point / name).stat().st_mtime_ns == path.stat().st_mtime_ns


def mounted(store, point, endpoint, *options):
    return mounts.augurfs(store.url, point, f"endpoint-url={endpoint}", *options)


def refusal(store, point, *options):
    """What augurfs says when it does not mount."""
    words = mounts.augurfs_words(mounts.program("augurfs"), store, point, options)
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2, done
    return done.stderr
