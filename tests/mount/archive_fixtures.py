# SPDX-License-Identifier: Apache-2.0
"""What the tests of views with archives share: a tree, its store and its mount, and libraries in a process of their own."""

import shutil

import pytest
from archive_readers import Readers
from archive_tree import make_archive_tree
from rooms import make_room
from stores import pack
from view_fixtures import mounted_once, view  # noqa: F401


@pytest.fixture(scope="module")
def archive_tree():
    room = make_room()
    try:
        make_archive_tree(room / "tree")
        yield room / "tree"
    finally:
        shutil.rmtree(room)


@pytest.fixture(scope="module")
def archive_store(augurpack, archive_tree):
    return pack(augurpack, archive_tree, archive_tree.parent / "store")


@pytest.fixture(scope="module")
def mounted(archive_store, module_mounts):
    """The store mounted, once for the tests that change nothing."""
    with mounted_once(module_mounts, archive_store) as point:
        yield point


@pytest.fixture(scope="module")
def readers():
    with Readers() as process:
        yield process


def ask(readers, function, *arguments):
    """What a library reads; a skip where it is not installed."""
    try:
        return readers.call(function, *arguments)
    except Readers.Missing as missing:
        pytest.skip(f"not installed: {missing}")
