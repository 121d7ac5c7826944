# SPDX-License-Identifier: Apache-2.0
"""Folders of a test: for its files, and to mount on."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from program_runs import run


def make_room():
    """A new folder that other users can reach."""
    folder = tempfile.mkdtemp(prefix="augurfs-mount-")
    os.chmod(folder, 0o755)
    return pathlib.Path(folder).resolve()


@contextlib.contextmanager
def removed_room():
    """A room that is removed afterwards."""
    folder = make_room()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


# Asked for before the mounts, so that it is removed after they are gone.
@pytest.fixture
def room():
    with removed_room() as folder:
        yield folder


@pytest.fixture
def private_room(room):
    """The room as a mount of its own, of which no other namespace hears. (The root of a chroot is no mount and cannot be private.)"""
    assert run(["mount", "--bind", room, room]).returncode == 0
    try:
        assert run(["mount", "--make-private", room]).returncode == 0
        yield room
    finally:
        subprocess.run(["umount", "-l", room], check=True)


@pytest.fixture(scope="session")
def session_room():
    with removed_room() as folder:
        yield folder


@pytest.fixture
def point(room):
    """An empty folder to mount on."""
    folder = room / "mount"
    folder.mkdir()
    return folder
