# SPDX-License-Identifier: Apache-2.0
"""-o preset=: rows of mount options."""

import os
import pathlib

from mounts import daemons, statistics
from patience import wait_until
from program_runs import assert_refused, run
from skips import needs_root, not_over_uring

pytestmark = needs_root


def preset_line(ctl, point):
    lines = run([ctl, "status", point]).stdout.splitlines()
    return next((line for line in lines if line.startswith("preset ")), "")


@not_over_uring("a restart is another daemon's test")
def test_a_preset_holds_and_is_told(room, mounts, point, small_store, ctl):
    """The log, the status, the numbers, and another daemon in the place of this one."""
    log = room / "log"
    mounts.mount(small_store, point, f"preset=validation+small,threads=3,log={log}")
    expected = "validation+small: cache=none, decode-threads=1, memory=256M, predict=on, push=on, threads=3"
    assert statistics(point)["mount"]["preset"] == expected
    assert statistics(point)["gauges"]["memory_bytes_max"] == 256 << 20
    assert preset_line(ctl, point) == f"preset     {expected}"
    text = log.read_text(encoding="utf-8")
    assert f"preset {expected}\n" in text and "; threads: 3\n" in text
    done = run([ctl, "restart", "-o", "memory=128M", point])
    assert done.returncode == 0, done.stderr
    wait_until(lambda: statistics(point)["gauges"]["memory_bytes_max"] == 128 << 20, "the next daemon")
    assert statistics(point)["mount"]["preset"] == expected.replace("256M", "128M")


def test_without_one_nothing_is_told(room, mounts, point, small_store, ctl):
    mounts.mount(small_store, point)
    assert "preset" not in statistics(point)["mount"] and preset_line(ctl, point) == ""


def test_every_name_mounts_and_a_wrong_one_does_not(room, mounts, point, small_store):
    names = ["training", "validation", "views", "inference", "small", "dedicated"]  # shared: the test of cache=shm mounts so
    for name in names:
        mounts.mount(small_store, point, f"preset={name}")
        assert (pathlib.Path(point) / "hello.txt").exists()
        assert run(["umount", point]).returncode == 0
        wait_until(lambda: daemons(mounts.program, point) == [], "the daemon has ended")
    assert_refused(mounts.start(small_store, point, "preset=smal"), "-o preset: 'smal'", *names, "did you mean small?")
    assert not os.path.ismount(point)
