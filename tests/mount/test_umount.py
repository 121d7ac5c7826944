# SPDX-License-Identifier: Apache-2.0
"""Nothing of ours has the mount in use: SEMANTICS.md, L5."""

import os
import random

import pytest

from mounts import is_running
from patience import wait_until
from prefetching import DataSet
from program_runs import NOBODY, as_user, run
from skips import forks_a_namespace, needs_root

pytestmark = needs_root

ROUNDS = 200 if "AUGUR_TEST_LONG" in os.environ else 60
READS = 40  # of a pass over 300 files: read-ahead is under way when the reader stops


@pytest.fixture(scope="module")
def data(augurpack, session_room):
    folder = session_room / "umount"
    folder.mkdir()
    return DataSet(augurpack, folder, file_count=300, bytes_max=30_000)


def busy_rounds(mounts, data, point, words, prefix):
    """In how many rounds a umount right behind the last read does not work the first time."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    busy = []
    for number in range(ROUNDS):
        pid = mounts.mount(data.store, point, "allow_other", prefix=prefix)
        paths = data.paths if number % 2 else chance.sample(data.paths, len(data.paths))
        for path in paths[:chance.randrange(1, READS)]:
            data.check(point, path)
        done = run([*prefix, *words, point])
        if done.returncode != 0:
            busy.append(f"round {number}: {done.stderr.strip()}")
            wait_until(lambda: run([*prefix, *words, point]).returncode == 0, "the mount is free")
        wait_until(lambda pid=pid: not is_running(pid), "the daemon ends")
    return busy


def test_umount_behind_the_last_read(room, mounts, point, data):
    assert busy_rounds(mounts, data, point, ["umount"], []) == []


@forks_a_namespace
def test_umount_behind_the_last_read_as_a_user(room, mounts, point, data, users_may_mount):
    users_may_mount.write_text("user_allow_other\n", encoding="ascii")
    os.chown(point, NOBODY, NOBODY)
    if run([*as_user(), "unshare", "--user", "--mount", "true"]).returncode != 0:
        pytest.skip("ordinary users may make no namespace here: then the helper looks in by the mount itself")
    assert busy_rounds(mounts, data, point, ["fusermount3", "-u"], as_user()) == []
