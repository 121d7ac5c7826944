# SPDX-License-Identifier: Apache-2.0
"""Machines of a fleet that mount one store, each of which is a daemon here, and their memcached servers."""

import contextlib
import json
import pathlib
import time

import mounts
from bucket_support import asked_for

PATIENCE_S = 60
ATTEMPTS = 5


def in_time(attempt):
    """Calls it with 0, and again with 1, 2, ... if it fails: a server of the fleet that is late, on a busy machine after 100 ms, is not
    waited for, and the store's server is asked. What the fleet does not have it has in no attempt."""
    for number in range(ATTEMPTS):
        try:
            return attempt(number)
        except (AssertionError, OSError):
            if number == ATTEMPTS - 1:
                raise


class Fleet:
    """A store that is mounted on several machines, each of which is a daemon here; `server` is a FaultProxy."""

    def __init__(self, store, folder, server, members):
        self.store, self.folder, self.server, self.members = store, pathlib.Path(folder), server, members
        self.paths = sorted(path.relative_to(store.tree) for path in store.tree.rglob("*") if path.is_file())
        self.list = "_".join(member.address for member in members)

    def words(self, number, *options):
        """Without what would bring a file a second time from memory."""
        point = self.folder / f"machine-{number}"
        return mounts.augurfs_words(mounts.program("augurfs"), self.store.url, point,
                                    [f"endpoint-url={self.server.endpoint}", f"fleet-cache={self.list}", "memory=512M", "cache=none",
                                     *options])

    @contextlib.contextmanager
    def machine(self, number, *options):
        point = self.folder / f"machine-{number}"
        with self.daemon(number, *options):
            yield point

    def daemon(self, number, *options):
        """The same, and yields the daemon (a Popen)."""
        return mounts.fuse([*self.words(number, *options), "-f"], self.folder / f"machine-{number}")

    def read_all(self, point, paths=None):
        for path in paths or self.paths:
            assert (point / path).read_bytes() == (self.store.tree / path).read_bytes(), path

    @staticmethod
    def statistics(point):
        stats = json.loads((point / ".augur" / "stats.json").read_bytes())
        return {**stats["counters"], **stats["gauges"]}

    def wait_for(self, point, name, count):
        end = time.monotonic() + PATIENCE_S
        while (found := self.statistics(point)[name]) < count:
            assert time.monotonic() < end, f"{name} is {found}, not {count}"
            time.sleep(0.02)

    def fill(self):
        with self.machine(0, "predict=off") as point:
            self.read_all(point)
            self.wait_for(point, "fleet_kept", len(self.paths))

    def asked_for(self):
        """Ranges of shards."""
        return asked_for(self.server.requests("GET", "shard-"))
