# SPDX-License-Identifier: Apache-2.0
"""The process that stays behind a mount, and starts the next daemon: SEMANTICS.md, L3, L10 and L11."""

import ctypes
import os
import signal

import pytest

from daemon_deaths import end_mount
from kernel_caches import drop_caches
from mounts import daemons, holders, is_running, mount_rows
from patience import wait_until
from prefetching import log_of
from skips import needs_root
from stores import HELLO, read_hello
from system_calls import errno_of, libc

pytestmark = needs_root


def test_without_restart(room, mounts, point, small_store):
    """L3: there is no holder, and the mount dies with its daemon."""
    pid = mounts.mount(small_store, point, "restart=no")
    assert holders(point) == []
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon is dead")
    wait_until(lambda: errno_of(os.statvfs, point) == 107, "the connection is down")


def test_unmounted_while_the_daemon_is_dead(room, mounts, point, small_store):
    """L10: the mount goes at once, and all processes with it."""
    pid = mounts.mount(small_store, point)
    assert read_hello(point) == HELLO
    (holder,) = holders(point)
    os.kill(holder, signal.SIGSTOP)
    try:
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid), "the daemon is dead")
        # Not by umount(8), which looks at the mount before, and so waits for the next daemon.
        assert libc.umount2(os.fsencode(point), 0) == 0, os.strerror(ctypes.get_errno())
        assert mount_rows(point) == []
    finally:
        os.kill(holder, signal.SIGCONT)
    wait_until(lambda: not is_running(holder) and daemons(mounts.program, point) == [], "all processes end")


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGINT, signal.SIGUSR1]], ids=["one", "two"])
def test_a_signal_while_the_daemon_is_dead(room, mounts, point, small_store, numbers):
    """L10: the next daemon gets it, and unmounts. One that asks for the statistics takes nothing from it."""
    pid = mounts.mount(small_store, point)
    (holder,) = holders(point)
    os.kill(holder, signal.SIGSTOP)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon is dead")
    for number in numbers:
        os.kill(holder, number)
    os.kill(holder, signal.SIGCONT)
    wait_until(lambda: not is_running(holder), "the holder ends")
    assert mount_rows(point) == []


def test_the_holder_is_killed(room, mounts, point, small_store):
    """L11: the daemon in the background goes on alone; it still ends by a signal."""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    (holder,) = holders(point)
    os.kill(holder, signal.SIGKILL)
    wait_until(lambda: "the process augur-holder is gone" in log_of(room), "the daemon has seen it")
    drop_caches()
    assert read_hello(point) == HELLO
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert mount_rows(point) == []


def test_the_command_in_the_foreground_is_killed(room, mounts, point, small_store):
    """L11: it is the holder, and the mount ends with it."""
    process = mounts.foreground(small_store, point)
    pid = mounts.pid(point)
    process.kill()
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert mount_rows(point) == []


def test_killed_for_good(room, mounts, point, small_store):
    """L3: holder and daemon are killed, and the next daemon clears the point."""
    pid = mounts.mount(small_store, point)
    end_mount(pid, point, "kill")
    mounts.mount(small_store, point)
    assert read_hello(point) == HELLO
