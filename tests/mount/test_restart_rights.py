# SPDX-License-Identifier: Apache-2.0
"""Whose rights the daemon has that goes on after a death, and how its mount ends: SEMANTICS.md, L2, L6 and L8."""

import os
import signal

from kernel_caches import drop_caches
from mounts import daemons, holders, is_running, mount_rows
from patience import wait_until
from processes import open_files
from program_runs import NOBODY, as_user, run
from restart_fixtures import Killer, killer, mount_handed_down  # noqa: F401
from skips import looks_at_all_threads, needs_root
from stores import HELLO, read_hello
from test_privileges import (
    CAP_DAC_READ_SEARCH,
    CAP_SETGID,
    CAP_SETUID,
    CAP_SYS_ADMIN,
    CAP_SYS_PTRACE,
    assert_holds,
    family,
    threads_status,
)

pytestmark = needs_root

CAP_KILL = 5
CAP_SETPCAP = 8


@looks_at_all_threads
def test_an_ordinary_user(room, mounts, point, small_store, users_may_mount):
    """L8: fusermount3 mounts once, and unmounts at the end."""
    os.chown(point, NOBODY, NOBODY)
    (room / "logs").mkdir()
    os.chown(room / "logs", NOBODY, NOBODY)
    mounts.mount(small_store, point, f"log={room}/logs/log", prefix=as_user())
    killer = Killer(mounts, room / "logs", point)
    for _ in range(2):
        pid = killer.kill()
        drop_caches()
        assert run([*as_user(), "cat", point / "hello.txt"]).stdout == HELLO
    assert threads_status(pid)["CapPrm"] == {"0" * 16} and threads_status(pid)["NoNewPrivs"] == {"1"}
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid) and holders(point) == [], "daemon and holder end")
    assert mount_rows(point) == []


def test_a_descriptor_that_was_handed_down(room, mounts, point, small_store):
    """L8, A3"""
    name = mount_handed_down(mounts, room, point, small_store)
    assert read_hello(point) == HELLO
    Killer(mounts, room, point, name).kill()
    drop_caches()
    assert read_hello(point) == HELLO
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not daemons(mounts.program, name) and not holders(name), "daemon and holder end")


@looks_at_all_threads
def test_privileges_after_a_restart(room, mounts, point, small_store, killer):
    """L6: those of the first daemon; the holder keeps what it takes to start one."""
    mounts.mount(small_store, point, f"log={room}/log")
    pid = killer.kill()
    processes = family(pid)
    assert_holds(pid, [CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID])
    assert_holds(processes["augur-broker"], [CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SYS_ADMIN])
    (holder,) = holders(point)
    assert_holds(holder, [CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_SYS_PTRACE, CAP_SYS_ADMIN])
    assert not [target for target in open_files(holder).values() if target.startswith(str(room / "mount"))]
    assert os.readlink(f"/proc/{holder}/cwd") == "/" and os.getsid(holder) == holder
    assert os.readlink(f"/proc/{pid}/cwd") == "/" and os.getsid(pid) == pid


@looks_at_all_threads
def test_run_as_goes_on_as_that_user(room, mounts, point, small_store):
    """L6"""
    (room / "logs").mkdir()
    os.chown(room / "logs", NOBODY, NOBODY)
    mounts.mount(small_store, point, "allow_other", f"run-as={NOBODY}", f"log={room}/logs/log")
    pid = Killer(mounts, room / "logs", point).kill()
    assert_holds(pid, [])
    assert threads_status(pid)["Uid"] == {"\t".join([str(NOBODY)] * 4)}
    drop_caches()
    assert read_hello(point) == HELLO


def test_run_as_ends_by_a_signal_to_the_holder(room, mounts, point, small_store):
    """L2, L6: which is root's, and passes it on to the first daemon and to each later one."""
    (room / "logs").mkdir()
    os.chown(room / "logs", NOBODY, NOBODY)
    killer = Killer(mounts, room / "logs", point)
    for begin in (lambda pid: pid, lambda pid: killer.kill()):
        pid = begin(mounts.mount(small_store, point, "allow_other", f"run-as={NOBODY}", f"log={room}/logs/log"))
        (holder,) = holders(point)
        os.kill(holder, signal.SIGTERM)
        wait_until(lambda pid=pid, holder=holder: not is_running(pid) and not is_running(holder), "daemon and holder end")
        assert mount_rows(point) == []
