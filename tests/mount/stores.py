# SPDX-License-Identifier: Apache-2.0
"""Stores that the tests of the mount share."""

import pathlib
import shutil

import pytest
from odd_tree import make_odd_tree
from program_runs import run

HELLO = "hello, world\n"  # hello.txt in the small tree


def read_hello(point):
    return (pathlib.Path(point) / "hello.txt").read_text(encoding="ascii")


def pack(augurpack, tree, store, *options):
    """Packs a folder; the store can be read by all."""
    done = run([augurpack, "create", "--quiet", *options, tree, store])
    assert done.returncode == 0, done.stderr
    return store


@pytest.fixture(scope="session")
def small_tree(session_room):
    """A few files, a link and a folder: for tests that are not about the tree."""
    tree = session_room / "small-tree"
    (tree / "folder").mkdir(parents=True)
    (tree / "hello.txt").write_text(HELLO, encoding="ascii")
    (tree / "folder" / "image.JPEG").write_bytes(bytes(range(256)) * 500)
    (tree / "link").symlink_to("hello.txt")
    return tree


@pytest.fixture(scope="session")
def small_store(augurpack, small_tree, session_room):
    return pack(augurpack, small_tree, session_room / "small-store")


@pytest.fixture
def own_store(small_store, room):
    """A copy of the small store that a test may damage."""
    return pathlib.Path(shutil.copytree(small_store, room / "store"))


@pytest.fixture(scope="session")
def tree(session_room):
    """A folder with everything that a tree can have. Not to be changed."""
    folder = session_room / "odd-tree"
    folder.mkdir()
    make_odd_tree(folder)
    return folder


@pytest.fixture(scope="session")
def store(augurpack, tree, session_room):
    """The odd tree, packed. Not to be changed."""
    return pack(augurpack, tree, session_room / "odd-store")


@pytest.fixture(scope="session")
def view_images():
    """Photographs of a data set, by path."""
    pytest.importorskip("PIL")
    from view_data import make_images
    return make_images()


@pytest.fixture(scope="session")
def view_images_store(augurpack, view_images, session_room):
    tree = session_room / "view-images"
    for name, data in view_images.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(data)
    store = pack(augurpack, tree, session_room / "view-images-store")
    shutil.rmtree(tree)
    return store
