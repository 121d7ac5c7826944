# SPDX-License-Identifier: Apache-2.0
"""Mounts that somebody else makes for us: mount(8), and a descriptor that is handed down (SEMANTICS.md, A3)."""

import ctypes
import os
import pathlib
import signal
import subprocess

import pytest

from mounts import daemons, holders, is_running, mount_rows
from patience import PATIENCE_S, wait_until
from prefetching import log_of
from processes import lone_daemon
from program_runs import NOBODY, assert_refused, run
from skips import needs_root
from stores import HELLO, read_hello
from system_calls import libc

pytestmark = needs_root

SERVED_AGAIN = "the mount is served again"


@pytest.fixture
def in_path(mounts):
    """augurfs where mount(8) finds it, as an installed one is."""
    link = pathlib.Path("/usr/local/bin/augurfs")
    if os.path.lexists(link):
        if link.resolve() != pathlib.Path(mounts.program).resolve():
            pytest.skip(f"{link} is another augurfs")
        yield
        return
    link.symlink_to(mounts.program)
    try:
        yield
    finally:
        link.unlink()


def test_mount_command(room, mounts, point, small_store, in_path):
    mounts.points.append(point)
    done = run(["mount", "-t", "fuse.augurfs", "-o", "ro,noatime,_netdev,x-systemd.automount,uid=12,umask=027", small_store, point])
    # Where there is no system log, the mount says where errors go.
    assert done.returncode == 0 and (done.stderr == "" or "there is no system log here" in done.stderr), done
    assert read_hello(point) == HELLO
    assert os.stat(point / "hello.txt").st_uid == 12
    assert run(["umount", point]).returncode == 0


FSTAB_OPTIONS = ("ro,_netdev,nofail,noatime,x-systemd.automount,x-systemd.idle-timeout=10min,x-systemd.requires=network-online.target,"
                 "x-gvfs-hide,memory=64M")


def test_fstab(room, mounts, point, small_store, in_path):
    """mount -a, as at the start of a machine: the holder lives on, another daemon follows one that dies, and umount ends both."""
    mounts.points.append(point)
    table = room / "fstab"
    table.write_text(f"{small_store} {point} fuse.augurfs {FSTAB_OPTIONS},log={room}/log 0 0\n", encoding="utf-8")
    for _ in range(2):
        done = run(["mount", "-a", "-T", table])
        assert done.returncode == 0, done
        assert read_hello(point) == HELLO
        (holder,) = holders(point)
        pid = lone_daemon("augurfs", point)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: SERVED_AGAIN in log_of(room), "another daemon serves")
        # There already, as it is at the second run of a script.
        assert run(["mount", "-a", "-T", table]).returncode == 0 and holders(point) == [holder] and len(mount_rows(point)) == 1
        assert run(["umount", point]).returncode == 0
        wait_until(lambda: not is_running(holder) and daemons("augurfs", point) == [], "daemon and holder end")
        (room / "log").unlink()


def test_fstab_of_a_store_that_is_not_there(room, mounts, point, in_path):
    """An error of mount(8), and no process that tries again."""
    mounts.points.append(point)
    table = room / "fstab"
    table.write_text(f"{room}/no-store {point} fuse.augurfs {FSTAB_OPTIONS} 0 0\n", encoding="utf-8")
    done = run(["mount", "-a", "-T", table])
    assert f"{room}/no-store" in done.stderr and "No such file or directory" in done.stderr, done
    assert daemons("augurfs", point) == [] and holders(point) == [] and mount_rows(point) == []


def test_mount_command_with_privileges_dropped(room, mounts, point, small_store, in_path):
    """mount.fuse3 mounts, becomes the user, and hands the descriptor down as /dev/fd/N."""
    mounts.points.append(point)
    options = f"setuid=#{NOBODY},drop_privileges,ro,default_permissions,allow_other"
    try:
        done = run(["mount", "-t", "fuse.augurfs", "-o", options, small_store, point])
        if "setuid" in done.stderr or "user" in done.stderr:
            done = run(["mount", "-t", "fuse.augurfs", "-o", options.replace(f"#{NOBODY}", "nobody"), small_store, point])
        assert done.returncode == 0, done.stderr
        assert read_hello(point) == HELLO
        assert os.stat(point / "hello.txt").st_uid == NOBODY
        assert {"default_permissions", "allow_other"} <= set(mount_rows(point)[0]["super_options"])
    finally:
        subprocess.run(["umount", "-l", point])


# ---- a descriptor that is handed down


class HandedDown:
    """Mounts by mount(2) and keeps the descriptor for a daemon to come."""

    def __init__(self, point):
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        data = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0,default_permissions".encode()
        if libc.mount(b"handed", os.fsencode(point), b"fuse.augurfs", ctypes.c_ulong(1), data) != 0:
            raise OSError(ctypes.get_errno(), "mount")


@pytest.mark.parametrize("foreground", [True, False])
def test_serves_a_descriptor_that_is_handed_down(room, mounts, point, small_store, foreground):
    mounts.points.append(point)
    handed = HandedDown(point)
    name = f"/dev/fd/{handed.fd}"
    words = [mounts.program, *(["-f"] if foreground else []), str(small_store), name]
    process = subprocess.Popen(words, pass_fds=[handed.fd], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    mounts.processes.append(process)
    os.close(handed.fd)
    if not foreground:
        assert process.wait(PATIENCE_S) == 0
    assert read_hello(point) == HELLO
    assert run(["umount", point]).returncode == 0
    if foreground:
        assert process.wait(PATIENCE_S) == 0
    wait_until(lambda: not daemons(mounts.program, name), "the daemon ends")


def test_refuses_a_descriptor_that_is_not_one(room, mounts, small_store):
    assert_refused(run([mounts.program, small_store, "/dev/fd/77"]), "/dev/fd/77")
    with open("/dev/null", "rb") as other:
        name = f"/dev/fd/{other.fileno()}"
        assert_refused(run([mounts.program, small_store, name], pass_fds=[other.fileno()]), name, "/dev/fuse")
