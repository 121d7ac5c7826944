# SPDX-License-Identifier: Apache-2.0
"""What the tests of views with archives share: a tree, its store and its mount, and libraries in a process of their own."""

import shutil
import subprocess

import pytest
from archive_readers import Readers
from archive_tree import make_archive_tree
from conftest import make_room, pack


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
    room = make_room()
    try:
        (room / "mount").mkdir()
        module_mounts.mount(archive_store, room / "mount", f"log={room / 'log'}", "memory=128M")
        yield room / "mount"
    finally:
        subprocess.run(["umount", "-l", room / "mount"], check=True)
        shutil.rmtree(room)


@pytest.fixture(scope="module")
def readers():
    with Readers() as process:
        yield process


def view(point, spec):
    return point / ".augur" / "views" / spec


def ask(readers, function, *arguments):
    """What a library reads; a skip where it is not installed."""
    try:
        return readers.call(function, *arguments)
    except Readers.Missing as missing:
        pytest.skip(f"not installed: {missing}")
