# SPDX-License-Identifier: Apache-2.0
"""Mounts that somebody else makes for us: mount(8), and a descriptor that is handed down (SEMANTICS.md, A3)."""

import ctypes
import os
import pathlib
import subprocess

import pytest

from conftest import HELLO, NOBODY, assert_refused, daemons, libc, mount_rows, needs_root, read_hello, run, wait_until

pytestmark = needs_root


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
        assert process.wait(30) == 0
    assert read_hello(point) == HELLO
    assert run(["umount", point]).returncode == 0
    if foreground:
        assert process.wait(30) == 0
    wait_until(lambda: not daemons(mounts.program, name), "the daemon ends")


def test_refuses_a_descriptor_that_is_not_one(room, mounts, small_store):
    assert_refused(run([mounts.program, small_store, "/dev/fd/77"]), "/dev/fd/77")
    with open("/dev/null", "rb") as other:
        name = f"/dev/fd/{other.fileno()}"
        assert_refused(run([mounts.program, small_store, name], pass_fds=[other.fileno()]), name, "/dev/fuse")
