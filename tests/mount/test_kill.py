# SPDX-License-Identifier: Apache-2.0
"""A daemon that nobody restarts is killed at any moment while files are read: SEMANTICS.md, L3."""

import errno
import os
import random
import signal
import threading
import time

import pytest

from kernel_caches import drop_caches
from mounts import is_running
from patience import PATIENCE_S, wait_until
from prefetching import DataSet
from skips import needs_root
from system_calls import errno_of

pytestmark = needs_root

ROUNDS = 6
READERS = 3
KILLED = {errno.ENOTCONN, errno.ECONNABORTED}  # later, and while the kernel takes the connection down


@pytest.fixture(scope="module")
def data(augurpack, session_room):
    """15 MB: a shuffled pass takes about as long as the daemons live."""
    folder = session_room / "kill"
    folder.mkdir()
    return DataSet(augurpack, folder, file_count=300, bytes_max=100_000)


class Reader(threading.Thread):
    """Reads files in a shuffled order, pass after pass, some of them in the order of the listing, until it is told to stop."""

    def __init__(self, data, point, chance):
        super().__init__(daemon=True)
        self.data, self.point, self.chance = data, point, chance
        self.stop = threading.Event()
        self.files = 0
        self.failures = set()
        self.wrong = []

    def run(self):
        while not self.stop.is_set():
            paths = self.data.paths if self.chance.random() < 0.3 else self.chance.sample(self.data.paths, len(self.data.paths))
            for path in paths:
                if self.stop.is_set():
                    return
                try:
                    self.data.check(self.point, path)
                    self.files += 1
                except OSError as failure:
                    self.failures.add(failure.errno)
                except AssertionError as failure:
                    self.wrong.append(str(failure))


def test_killed_while_files_are_read(room, mounts, point, data):
    """L3, R1: who reads gets right bytes or the end of the connection, and the next daemon clears the mount and has all bytes."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    pid = mounts.mount(data.store, point, "restart=no")
    for _ in range(ROUNDS):
        readers = [Reader(data, point, random.Random(chance.random())) for _ in range(READERS)]
        moment_s = chance.uniform(0, 0.3)
        try:
            for reader in readers:
                reader.start()
            time.sleep(moment_s)
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda pid=pid: not is_running(pid), "the daemon is dead")
            wait_until(lambda: errno_of(os.statvfs, point) == errno.ENOTCONN, "the connection is down")
            # Names and pages that the kernel remembers are still there; not after this.
            drop_caches()
            wait_until(lambda: all(reader.failures for reader in readers), "every reader has seen it")
        finally:
            for reader in readers:
                reader.stop.set()
            for reader in readers:
                reader.join(PATIENCE_S)
        assert not any(reader.is_alive() for reader in readers), "a reader hangs"
        assert not any(reader.wrong for reader in readers), [reader.wrong for reader in readers]
        assert all(reader.failures <= KILLED for reader in readers), [reader.failures for reader in readers]
        done = mounts.start(data.store, point, "restart=no")
        assert (done.returncode, done.stdout) == (0, "")
        assert f"{point}: cleared the mount point of an augurfs that had died" in done.stderr
        for path in data.paths:
            data.check(point, path)
        drop_caches()
        pid = mounts.pid(point)
