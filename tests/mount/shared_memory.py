# SPDX-License-Identifier: Apache-2.0
"""The files of retained caches in shared memory."""

import glob
import os
import pathlib

import pytest
from program_runs import run

ROOT_SHARED = pathlib.Path("/run/augurfs-shm")  # where root's files are; those of users and groups are in /dev/shm


def shared_files():
    return glob.glob("/dev/shm/augurfs-*") + glob.glob(f"{ROOT_SHARED}/augurfs-*")


@pytest.fixture
def shared_memory():
    """Shared memory without files of ours, before and after; and without a mount of ours where there was none."""
    if shared_files():
        pytest.skip("somebody's retained cache is in shared memory")
    # A new machine has none: the daemon must be able to make it.
    was_mounted = os.path.ismount(ROOT_SHARED) and run(["umount", ROOT_SHARED]).returncode != 0
    try:
        yield shared_files
    finally:
        for path in shared_files():
            os.unlink(path)
        # Another test run may have come to use it: then it is busy, and stays.
        if not was_mounted and os.path.ismount(ROOT_SHARED) and run(["umount", ROOT_SHARED]).returncode == 0:
            ROOT_SHARED.rmdir()
