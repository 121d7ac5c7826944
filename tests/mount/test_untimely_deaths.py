# SPDX-License-Identifier: Apache-2.0
"""Daemons of a mount die too often, or before they serve: SEMANTICS.md, L3 and L9."""

import os
import pathlib
import re
import signal
import subprocess

import pytest

from daemon_deaths import crash_until, kill_all
from mounts import daemons, holders, is_running, mount_rows, statistics
from patience import wait_until
from prefetching import log_of
from processes import thread_names
from skips import needs_root, no_error_at_a_crash
from stores import HELLO, read_hello
from system_calls import errno_of
from test_kill import KILLED

pytestmark = needs_root


def test_three_deaths(room, mounts, point, small_store):
    """L9: readers get an error, the log says why, and the next mount clears the point."""
    mounts.mount(small_store, point, f"log={room}/log")
    assert read_hello(point) == HELLO
    (holder,) = holders(point)
    crash_until(lambda: not is_running(holder), lambda: daemons(mounts.program, point))
    assert not is_running(holder)
    assert errno_of(os.statvfs, point) in KILLED
    assert re.search(r"three daemons have died within ten seconds.* was killed by signal 11 \(SEGV\)", log_of(room)), log_of(room)
    wait_until(lambda: daemons(mounts.program, point) == [] and holders(point) == [], "all processes are gone")
    done = mounts.start(small_store, point)
    assert done.returncode == 0 and "cleared the mount point of an augurfs that had died" in done.stderr
    assert read_hello(point) == HELLO


@pytest.mark.skipif("AUGUR_SANITIZER" in os.environ, reason="a sanitizer wants to be loaded first")
def test_the_third_daemon_dies_before_it_serves(room, mounts, point, small_store, slow_crash):
    """L9: its thread that waits for an umount finds the connection ended, and says no more than that; the log says why all the same."""
    mounts.mount(small_store, point, f"log={room}/log", env=dict(os.environ, LD_PRELOAD=slow_crash))
    (holder,) = holders(point)

    def begins():
        """Daemons that open the store."""
        return [pid for pid in daemons(mounts.program, point) if "augur-signals" in thread_names(pid)]

    os.kill(mounts.pid(point), signal.SIGSEGV)
    crash_until(lambda: not is_running(holder), begins)
    assert re.search(r"three daemons have died within ten seconds.* was killed by signal 11 \(SEGV\)", log_of(room)), log_of(room)


@no_error_at_a_crash
def test_killed_as_soon_as_it_answers(room, mounts, point, small_store):
    """L9: a SIGKILL is not counted once the daemon takes requests, even if it is not done with its start."""
    mounts.mount(small_store, point)
    (holder,) = holders(point)
    for _ in range(20):
        statistics(point)
        kill_all(daemons(mounts.program, point))
    assert read_hello(point) == HELLO and holders(point) == [holder]


@no_error_at_a_crash
@pytest.mark.skipif("AUGUR_SANITIZER" in os.environ, reason="a sanitizer wants to be loaded first")
def test_a_death_at_once(room, mounts, point, small_store, slow_fork):
    """L9: a daemon that was dead and collected when its holder came to watch it is followed by another one."""
    pid = mounts.mount(small_store, point, env=dict(os.environ, LD_PRELOAD=slow_fork))
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: daemons(mounts.program, point) not in ([], [pid]), "the next one is there")
    kill_all(daemons(mounts.program, point))
    assert read_hello(point) == HELLO


def test_a_death_before_the_holder_knows_that_its_daemon_serves(room, mounts, point, small_store):
    """L3: the mount goes on, and the dead are collected."""
    mounts.points.append(point)
    process = subprocess.Popen([*mounts.words(small_store, point, [f"log={room}/log"]), "-f"], stderr=subprocess.PIPE)
    mounts.processes.append(process)
    wait_until(lambda: holders(point) == [process.pid], "the holder is there")
    os.kill(process.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: mount_rows(point) and len(daemons(mounts.program, point)) == 1, "it is mounted")
        pid = mounts.pid(point)
        os.kill(pid, signal.SIGUSR1)  # it does what a signal says once it has told the holder that it serves
        wait_until(lambda: "read_failures" in log_of(room), lambda: log_of(room))
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid), "the daemon is dead")
    finally:
        os.kill(process.pid, signal.SIGCONT)
    assert read_hello(point) == HELLO
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(lambda: children.read_text(encoding="ascii").split() == [str(pid) for pid in daemons(mounts.program, point)],
               children.read_text)
