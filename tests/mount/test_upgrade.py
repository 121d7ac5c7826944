# SPDX-License-Identifier: Apache-2.0
"""Another daemon takes a mount over from one that serves it (augurctl restart): SEMANTICS.md, L12 and L13."""

import concurrent.futures
import json
import os
import random
import signal
import subprocess
import threading
import time

import pytest
from daemon_deaths import kill_all
from kernel_caches import drop_caches
from mounts import daemons, holders, is_running, mount_rows
from patience import PATIENCE_S, wait_until
from prefetching import Prediction, log_of
from program_runs import run
from restart_fixtures import (
    assert_goes_on,
    assert_open_stays_usable,
    assert_served_again,
    mount_handed_down,
    restart,
    shared_state,
)
from skips import needs_root, no_error_at_a_crash
from stores import HELLO, read_hello

pytestmark = needs_root

UPGRADES = 10
READERS = 3
ASKERS = 3


class Reader(threading.Thread):
    """Reads a data set in a shuffled order, pass after pass, and compares all bytes, until it is told to stop."""

    def __init__(self, data, point, seed):
        super().__init__(daemon=True)
        self.data, self.point, self.chance = data, point, random.Random(seed)
        self.stop = threading.Event()
        self.files, self.longest_s, self.failures = 0, 0.0, []

    def run(self):
        while not self.stop.is_set():
            paths = self.data.paths
            self.chance.shuffle(paths)
            for path in paths:
                if self.stop.is_set():
                    return
                begun = time.monotonic()
                try:
                    self.data.check(self.point, path)
                except (OSError, AssertionError) as failure:
                    self.failures.append(f"{path}: {failure}")
                self.longest_s = max(self.longest_s, time.monotonic() - begun)
                self.files += 1


def test_readers_see_nothing_of_it(room, mounts, point, ctl, data):
    """L12, R1: no error and no wrong byte; statistics go on, and the order of the versions is told."""
    first = mounts.mount(data.store, point, "memory=64M", f"log={room}/log")
    readers = [Reader(data, point, seed) for seed in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        before, gaps = first, []
        for _ in range(UPGRADES):
            files = sum(reader.files for reader in readers)
            drop_caches()
            told = restart(ctl, point)
            assert told["from_process"] == before and told["version"] == told["from_version"]
            before = told["process"]
            gaps.append(told["gap_us"] // 1000)
            wait_until(lambda files=files: sum(reader.files for reader in readers) > files, "the readers go on")
    finally:
        for reader in readers:
            reader.stop.set()
        for reader in readers:
            reader.join()
    print(f"gaps {gaps} ms; longest read of a file {max(reader.longest_s for reader in readers) * 1000:.0f} ms; "
          f"{sum(reader.files for reader in readers)} files")
    assert [reader.failures for reader in readers] == [[]] * READERS
    wait_until(lambda: daemons(mounts.program, point) == [before], "those before are gone")
    now = Prediction(ctl, point).status()
    # read_failures may count augurctl's own reads of .augur, which ends with its daemon (L8).
    counters = ("restarts", "corrupt_blocks", "disk_errors", "index_errors")
    assert {name: now["counters"][name] for name in counters} == dict.fromkeys(counters, 0), log_of(room)
    assert now["counters"]["reads"] >= len(data.paths)  # those of all daemons
    assert f"handed over to process {before}" in run([ctl, "status", point]).stdout


def test_what_is_open_stays_usable(room, mounts, point, ctl, view_images, view_images_store):
    """L12"""
    mounts.mount(view_images_store, point, f"log={room}/log")
    assert_open_stays_usable(point, view_images, lambda: restart(ctl, point))


def test_other_options(room, mounts, point, ctl, small_store):
    """L12: they hold from then on, also for the daemon that follows one that dies."""
    mounts.mount(small_store, point, "memory=64M,umask=022", f"log={room}/log")
    restart(ctl, point, "-o", "memory=96M", "-o", f"cache-size=8M,log={room}/other log")
    ahead = Prediction(ctl, point)
    assert ahead.gauges()["memory_bytes_max"] == 96 << 20
    # As mount(8) writes a comma in a value.
    told = restart(ctl, point, "-o", f"predict=off,log={room}/a\\,b")
    assert ahead.gauges()["memory_bytes_max"] == 96 << 20
    assert ahead.status()["mount"]["prefetch"] == "off"
    log = room / "a,b"
    assert_served_again(log, 1)
    assert "hands the mount over" in (room / "other log").read_text(encoding="utf-8")
    os.kill(told["process"], signal.SIGKILL)
    assert_served_again(log, 2)
    drop_caches()
    assert read_hello(point) == HELLO
    assert ahead.gauges()["memory_bytes_max"] == 96 << 20
    assert (point / "hello.txt").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("option, words", [
    ("uid=3", ["-o uid: cannot change", "memory, cache-size, predict and log can"]),
    ("memry=3G", ["-o memry: cannot change"]),
    ("ro", ["-o ro: cannot change"]),
    ("memory=much", ["-o memory", "'much'"]),
    ("memory=1M", ["-o memory", "too small"]),
    ("predict=perhaps", ["-o predict", "'perhaps'"]),
    ("log=/not/there/log", ["/not/there"]),
])
def test_refused_options(room, mounts, point, ctl, small_store, option, words):
    """L12: named, and nothing happens."""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    assert_goes_on(mounts, ctl, pid, point, ["-o", option], *words)
    assert read_hello(point) == HELLO


def test_counters_of_another_version(room, mounts, point, ctl, data):
    """L12: one that the old version does not have begins at zero, and one that the new version does not have is no obstacle."""
    mounts.mount(data.store, point, "predict=off", f"log={room}/log")
    for path in data.paths:
        data.check(point, path)
    ahead = Prediction(ctl, point)
    before = ahead.counters()
    assert before["misses"] > 0
    # As if the old version had another counter in the place of this one.
    with open(shared_state(point), "r+b") as file:
        place = file.read().index(b"\0misses\0") + 1
        file.seek(place)
        file.write(b"of_another_version")
    restart(ctl, point)
    now = ahead.counters()
    assert now["misses"] == 0 and now["reads"] >= before["reads"]
    drop_caches()
    for path in data.paths[:10]:
        data.check(point, path)
    restart(ctl, point)
    assert 0 < ahead.counters()["misses"] < before["misses"]


def test_the_retained_cache_is_found_again(room, mounts, point, ctl, own_data, shared_memory):
    """L12: records in shared memory are there for the next daemon."""
    mounts.mount(own_data.store, point, "cache=shm", "memory=256M", f"log={room}/log")
    done = run([ctl, "warm", point])
    assert done.returncode == 0, done.stderr
    kept = Prediction(ctl, point).gauges()["retained_cache_bytes"]
    told = restart(ctl, point)
    wait_until(lambda: daemons(mounts.program, point) == [told["process"]], "the one before is gone")
    assert Prediction(ctl, point).gauges()["retained_cache_bytes"] == kept > 0
    drop_caches()
    for path in own_data.paths:
        own_data.check(point, path)


@no_error_at_a_crash
def test_killed_while_it_hands_over(room, mounts, point, ctl, data):
    """L12: whichever of the two daemons is killed, and when, readers see no error."""
    mounts.mount(data.store, point, "memory=64M", f"log={room}/log")
    reader = Reader(data, point, 1)
    reader.start()
    chance = random.Random(5)
    try:
        for _ in range(UPGRADES):
            upgrade = subprocess.Popen([ctl, "restart", point], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.08))
            kill_all(daemons(mounts.program, point)[chance.randrange(2):][:1])
            upgrade.wait()
            files = reader.files
            wait_until(lambda files=files: reader.files > files, "the reader goes on")
    finally:
        reader.stop.set()
        reader.join()
    assert reader.failures[:3] == [], log_of(room)
    wait_until(lambda: len(daemons(mounts.program, point)) == 1, "one daemon is left")
    restart(ctl, point)


def test_augurctl_is_answered_all_the_time(room, mounts, point, ctl, small_store):
    """L8, L12: whoever asks while one daemon follows another gets an answer of one of the two."""
    mounts.mount(small_store, point, f"log={room}/log")

    def ask():
        done = run([ctl, "status", "--json", point])
        assert (done.returncode, done.stderr) == (0, ""), done
        return int(json.loads(done.stdout)["mount"]["process"])

    def ask_until(ended):
        while not ended.is_set():
            ask()

    before, ended = ask(), threading.Event()
    with concurrent.futures.ThreadPoolExecutor(ASKERS) as askers:
        asked = [askers.submit(ask_until, ended) for _ in range(ASKERS)]
        try:
            for _ in range(UPGRADES):
                before = restart(ctl, point)["process"]
        finally:
            ended.set()
        for one in asked:
            one.result()
    os.kill(before, signal.SIGKILL)
    assert ask() != before


def test_without_a_holder(room, mounts, point, ctl, small_store):
    """L12: refused with the cause and the cure."""
    pid = mounts.mount(small_store, point, "restart=no")
    assert_goes_on(mounts, ctl, pid, point, [], "-o restart=no", "mount again without that option")


def test_the_holder_was_killed(room, mounts, point, ctl, small_store):
    """L11, L12"""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    (holder,) = holders(point)
    os.kill(holder, signal.SIGKILL)
    wait_until(lambda: "the process augur-holder is gone" in log_of(room), "the daemon has seen it")
    assert_goes_on(mounts, ctl, pid, point, [], "augur-holder", "mount again")


def test_in_the_foreground(room, mounts, point, ctl, small_store):
    """L12: messages still go to stderr, and the command ends with the mount."""
    process = mounts.foreground(small_store, point)
    told = restart(ctl, point)
    assert mount_rows(point)
    assert run(["umount", point]).returncode == 0
    errors = process.communicate(timeout=PATIENCE_S)[1]
    text = errors.decode() if isinstance(errors, bytes) else errors
    assert process.returncode == 0 and f"the mount is served again, by process {told['process']}" in text, text
    assert not is_running(told["process"])


def test_a_descriptor_that_was_handed_down(room, mounts, point, ctl, small_store):
    """L12, A3"""
    name = mount_handed_down(mounts, room, point, small_store)
    for _ in range(2):
        restart(ctl, point)
        drop_caches()
        assert read_hello(point) == HELLO
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not daemons(mounts.program, name) and not holders(name), "daemon and holder end")
