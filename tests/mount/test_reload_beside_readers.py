# SPDX-License-Identifier: Apache-2.0
"""A mount is reloaded again and again while programs read, or while daemons are killed (augurctl reload): SEMANTICS.md, L17."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from daemon_deaths import kill_all
from kernel_caches import drop_caches
from mounts import daemons, holders
from patience import wait_until
from prefetching import Prediction, log_of
from processes import anonymous_bytes
from program_runs import run
from reload_fixtures import bytes_of, changes, grown, next_version, reload  # noqa: F401
from skips import measures_memory, needs_root, no_error_at_a_crash

pytestmark = needs_root

READERS = 3


class Reader(threading.Thread):
    """Reads files at random, and compares all bytes with those of the versions that the mount may show at that time."""

    def __init__(self, point, paths, versions, seed):
        super().__init__(daemon=True)
        self.point, self.paths, self.versions, self.chance = point, paths, versions, random.Random(seed)
        self.stop = threading.Event()
        self.files, self.longest_s, self.failures = 0, 0.0, []

    def run(self):
        while not self.stop.is_set():
            path = self.chance.choice(self.paths)
            oldest = self.versions["shown"]
            begun = time.monotonic()
            try:
                data = (self.point / path).read_bytes()
                newest = self.versions["packed"]
                fits = [v for v in range(oldest, newest + 1) if data == bytes_of(path, v if changes(path) else 0)]
                if not fits:
                    self.failures.append(f"{path}: not the bytes of {oldest} to {newest}")
            except OSError as failure:
                self.failures.append(f"{path}: {failure}")
            self.longest_s = max(self.longest_s, time.monotonic() - begun)
            self.files += 1


def run_beside_readers(point, store, versions, body):
    readers = [Reader(point, sorted(store.files), versions, seed) for seed in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        body(readers)
    finally:
        for reader in readers:
            reader.stop.set()
        for reader in readers:
            reader.join()
    print(f"{sum(reader.files for reader in readers)} files; longest {max(reader.longest_s for reader in readers):.3f} s")
    assert [reader.failures[:3] for reader in readers] == [[]] * READERS


def test_twenty_reloads_beside_readers(room, mounts, point, ctl, grown):
    """L17, R1: no error, no wrong byte, and no old byte once the command has returned."""
    mounts.mount(grown.path, point, "memory=64M", f"log={room}/log")
    versions = {"shown": 0, "packed": 0}

    def body(readers):
        for number in range(20):
            files = sum(reader.files for reader in readers)
            next_version(grown, versions)
            drop_caches()
            reload(ctl, point)
            versions["shown"] = versions["packed"]
            wait_until(lambda files=files: sum(reader.files for reader in readers) > files + 50, "the readers go on")
            assert (point / f"f{versions['shown'] % 3}" / f"added {versions['shown']}").read_bytes() == b"added", number

    run_beside_readers(point, grown, versions, body)
    grown.check(point)
    counters = Prediction(ctl, point).counters()
    wrong = ("restarts", "corrupt_blocks", "disk_errors", "index_errors")
    assert {name: counters[name] for name in wrong} == dict.fromkeys(wrong, 0), log_of(room)


@no_error_at_a_crash
def test_killed_while_it_reloads(room, mounts, point, ctl, grown):
    """L17: whichever daemon is killed, and when, readers see no error, and the mount one of the two generations."""
    mounts.mount(grown.path, point, "memory=64M", f"log={room}/log")
    versions = {"shown": 0, "packed": 0}
    chance = random.Random(7)

    def body(readers):
        for _ in range(10):
            next_version(grown, versions)
            attempt = subprocess.Popen([ctl, "reload", point], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.15))
            kill_all(daemons(mounts.program, point)[chance.randrange(2):][:1])
            attempt.wait()
            files = sum(reader.files for reader in readers)
            wait_until(lambda files=files: sum(reader.files for reader in readers) > files + 20, "the readers go on")

    run_beside_readers(point, grown, versions, body)
    wait_until(lambda: len(daemons(mounts.program, point)) == 1, "one daemon is left")
    reload(ctl, point)
    grown.check(point)


def test_killed_after_a_reload(room, mounts, point, ctl, grown):
    """L17: the next daemon shows the new generation, and what is open keeps its bytes."""
    mounts.mount(grown.path, point, f"log={room}/log")
    path = "f1/001"
    old = grown.files[path]
    opened = os.open(point / path, os.O_RDONLY)
    try:
        grown.add({path: bytes_of(path, 1), "f0/new": b"new"})
        inode = (point / "f0" / "000").stat().st_ino
        told = reload(ctl, point)
        os.kill(told["process"], signal.SIGKILL)
        drop_caches()
        assert os.pread(opened, 100_000, 0) == old
        grown.check(point)
        assert (point / "f0" / "000").stat().st_ino == inode
        assert reload(ctl, point)["unchanged"]
        grown.add({path: bytes_of(path, 2)})
        reload(ctl, point)
        drop_caches()
        assert os.pread(opened, 100_000, 0) == old
        grown.check(point)
    finally:
        os.close(opened)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


@measures_memory
def test_fifty_reloads_take_nothing(room, mounts, point, ctl, grown):
    """L17: daemon and holder have no more descriptors and memory after fifty than after ten, and 'gc' removes what is between."""
    first = dict(grown.files)
    mounts.mount(grown.path, point, "memory=64M", f"log={room}/log")
    (holder,) = holders(point)
    for version in (1, 2):
        grown.add({path: bytes_of(path, version) for path in first if changes(path)} | {f"f1/added {version}": b"added"})
    seen = []
    for number in range(50):
        # Never to the one that is shown: each time there are old nodes.
        told = reload(ctl, point, "-o", f"generation={1 + (number + 1) % 3}")
        for path in first:
            assert (point / path).read_bytes() == bytes_of(path, (number + 1) % 3 if changes(path) else 0)
        if number % 10 == 9:
            pid = mounts.pid(point)
            assert pid == told["process"]
            seen.append({"descriptors": (descriptors(pid), descriptors(holder)),
                         "bytes": (anonymous_bytes(pid), anonymous_bytes(holder))})
    print(seen)
    for before, after in zip(seen[0]["descriptors"], seen[-1]["descriptors"]):
        assert after <= before + 2  # which shards are open depends on what is in the page cache
    for before, after in zip(seen[0]["bytes"], seen[-1]["bytes"]):
        assert after < before + (2 << 20), seen
    # The generation that is shown, and the one before it, are kept.
    for _ in range(2):
        reload(ctl, point, "-o", "generation=2")
        reload(ctl, point)
    mounts.pid(point)  # those before, which hold what they have shown, are gone
    assert run([grown.augurpack, "gc", grown.path]).returncode == 0
    assert sorted(path.name for path in grown.path.glob("index-*")) == ["index-00000002", "index-00000003"]


def test_a_data_loader(room, mounts, point, ctl, grown):
    """L17: its workers see no error and no wrong byte while generations come."""
    pytest.importorskip("torch")
    mounts.mount(grown.path, point, "memory=64M", f"log={room}/log")
    script = pathlib.Path(__file__).with_name("loader_reload.py")
    loader = subprocess.Popen([sys.executable, script, point], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    versions = {"shown": 0, "packed": 0}
    try:
        for _ in range(5):
            line = loader.stdout.readline()
            if not line:
                pytest.fail(loader.communicate()[1])
            next_version(grown, versions)
            drop_caches()
            reload(ctl, point)
            versions["shown"] = versions["packed"]
            loader.stdin.write(f"{versions['shown']}\n")
            loader.stdin.flush()
        loader.stdin.close()
        loader.stdin = None
        _, errors = loader.communicate(timeout=60)
        assert loader.returncode == 0, errors
    finally:
        loader.kill()
        loader.communicate()
