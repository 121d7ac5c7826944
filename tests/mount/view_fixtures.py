# SPDX-License-Identifier: Apache-2.0
"""What the tests of views share: a tree of images, its store and its mount, and what Pillow makes of an image."""

import contextlib
import io
import os
import shutil
import subprocess

import numpy
import pytest
from mounts import statistics
from PIL import Image
from rooms import make_room, removed_room
from stores import pack
from view_tree import make_view_tree

SPECS = ["npy", "pt", "npy+size=16+crop=12+layout=chw+dtype=f32", "pixels", "pixels+as=ppm+all", "pixels+as=bmp+names=own"]


def pillow(data, mode="RGB"):
    return Image.open(io.BytesIO(data)).convert(mode)


def array(data):
    return numpy.asarray(pillow(data))


def view(point, spec):
    return point / ".augur" / "views" / spec


def decoded(point):
    return statistics(point)["counters"]["images_decoded"]


def files_below(top):
    return sorted(os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names)


@contextlib.contextmanager
def mounted_once(mounts, store):
    """The store mounted, for several tests; the log is beside the mount."""
    room = make_room()
    try:
        (room / "mount").mkdir()
        mounts.mount(store, room / "mount", f"log={room / 'log'}", "memory=128M")
        yield room / "mount"
    finally:
        subprocess.run(["umount", "-l", room / "mount"], check=True)
        shutil.rmtree(room)


@pytest.fixture(scope="module")
def view_tree():
    with removed_room() as room:
        (room / "tree").mkdir()
        make_view_tree(room / "tree")
        yield room / "tree"


@pytest.fixture(scope="module")
def view_store(augurpack, view_tree):
    return pack(augurpack, view_tree, view_tree.parent / "store")


@pytest.fixture(scope="module")
def mounted(view_store, module_mounts):
    """The store mounted, once for the tests that change nothing."""
    with mounted_once(module_mounts, view_store) as point:
        yield point
