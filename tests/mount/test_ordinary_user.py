# SPDX-License-Identifier: Apache-2.0
"""Mounts of an ordinary user, by fusermount3. The tests become one, and need root for that."""

import errno
import os
import pathlib
import signal
import subprocess

import pytest

from mounts import is_running, mount_rows
from patience import wait_until
from program_runs import NOBODY, as_user, assert_refused, run
from skips import needs_root
from stores import HELLO, read_hello
from system_calls import errno_of

pytestmark = needs_root


@pytest.fixture
def user_point(point):
    os.chown(point, NOBODY, NOBODY)
    return point


def test_user_mounts(room, mounts, user_point, small_store, users_may_mount):
    """A2, T3: theirs, and closed to everybody else, root too."""
    pid = mounts.mount(small_store, user_point, prefix=as_user())
    look = run([*as_user(), "stat", "-c", "%u %g %s", user_point / "hello.txt"])
    assert look.stdout == f"{NOBODY} {NOBODY} {len(HELLO)}\n"
    assert errno_of(lambda: os.stat(user_point / "hello.txt")) == errno.EACCES
    (row,) = mount_rows(user_point)
    assert row["type"] == "fuse.augurfs" and row["source"] == str(small_store)
    assert {"ro", "nosuid", "nodev"} <= set(row["options"]) and "default_permissions" in row["super_options"]
    assert run([*as_user(), "fusermount3", "-u", user_point]).returncode == 0
    wait_until(lambda: not is_running(pid), "the daemon ends")


def test_user_mount_ends_by_signal(room, mounts, user_point, small_store, users_may_mount):
    pid = mounts.mount(small_store, user_point, prefix=as_user())
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert mount_rows(user_point) == []


def test_user_mount_in_use_is_detached(room, mounts, user_point, small_store, users_may_mount):
    pid = mounts.mount(small_store, user_point, prefix=as_user())
    holder = subprocess.Popen([*as_user(), "sh", "-c", f"exec 5<{user_point}/hello.txt; echo open; exec sleep 60"], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"open\n"
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not is_running(pid), "the daemon ends")
        assert mount_rows(user_point) == []
    finally:
        holder.kill()
        holder.communicate()


def test_user_clears_the_mount_of_a_killed_daemon(room, mounts, user_point, small_store, users_may_mount):
    pid = mounts.mount(small_store, user_point, "restart=no", prefix=as_user())
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon is dead")
    done = mounts.start(small_store, user_point, prefix=as_user())
    assert done.returncode == 0 and "cleared the mount point" in done.stderr
    assert run([*as_user(), "cat", user_point / "hello.txt"]).stdout == HELLO


def test_root_clears_the_mount_of_a_user_whose_daemon_was_killed(room, mounts, user_point, small_store, users_may_mount):
    """The kernel does not tell root that it is dead, as it would not let it in."""
    pid = mounts.mount(small_store, user_point, "restart=no", prefix=as_user())
    assert_refused(mounts.start(small_store, user_point), "mounted here already")  # it lives
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon is dead")
    done = mounts.start(small_store, user_point)
    assert done.returncode == 0 and "cleared the mount point" in done.stderr
    assert read_hello(user_point) == HELLO
    assert len(mount_rows(user_point)) == 1


@pytest.mark.parametrize("conf", ["", "user_allow_other\n"])
def test_the_cure_is_that_of_the_cause(room, mounts, user_point, small_store, users_may_mount, conf):
    """A closed /dev/fuse is the first that keeps a user from mounting, also with allow_other; then the folder, if all else is right."""
    users_may_mount.write_text(conf, encoding="ascii")
    os.chmod("/dev/fuse", 0o600)
    done = mounts.start(small_store, user_point, "allow_other", prefix=as_user())
    assert_refused(done, "chmod 666 /dev/fuse")
    assert "leave out -o allow_other" not in done.stderr
    os.chmod("/dev/fuse", 0o666)
    if conf:
        os.chown(user_point, 0, 0)
        done = mounts.start(small_store, user_point, "allow_other", prefix=as_user())
        assert_refused(done, "may write to")
        assert "leave out -o allow_other" not in done.stderr


def test_user_needs_leave_to_allow_others(room, mounts, user_point, small_store, users_may_mount):
    assert_refused(mounts.start(small_store, user_point, "allow_other", prefix=as_user()), "user_allow_other", "/etc/fuse.conf")
    users_may_mount.write_text("user_allow_other\n", encoding="ascii")
    mounts.mount(small_store, user_point, "allow_other", prefix=as_user())
    assert read_hello(user_point) == HELLO


def test_user_on_a_folder_of_another(room, mounts, point, small_store, users_may_mount):
    assert_refused(mounts.start(small_store, point, prefix=as_user()), str(point), "write")


def test_user_where_the_device_is_closed(room, mounts, user_point, small_store, users_may_mount):
    os.chmod("/dev/fuse", 0o600)
    assert_refused(mounts.start(small_store, user_point, prefix=as_user()), "/dev/fuse", "closed to ordinary users")


def test_user_without_fusermount(room, mounts, user_point, small_store, users_may_mount):
    done = mounts.start(small_store, user_point, prefix=[*as_user(), "env", f"PATH={room}"])
    assert_refused(done, "fusermount3", "apt-get install fuse3")


def test_user_and_a_store_of_another(room, mounts, user_point, own_store, users_may_mount):
    own_store.chmod(0o700)
    assert_refused(mounts.start(own_store, user_point, prefix=as_user()), str(own_store), "Permission denied")


def test_user_and_a_shard_of_another(room, mounts, user_point, own_store, users_may_mount):
    """R13: the mount is made, as other shards may do, and says at once what will give errors."""
    shard, = own_store.glob("shard-*")
    shard.chmod(0o600)
    os.chown(shard, 0, 0)
    done = mounts.start(own_store, user_point, prefix=as_user())
    assert done.returncode == 0 and "1 of 1 shards cannot be read, and their files will give EIO" in done.stderr, done
    assert f"{shard}: this user may not read the shard: let the store's owner do chmod -R a+rX" in done.stderr


def test_user_without_mtab(room, mounts, user_point, small_store, users_may_mount):
    """fusermount3 unmounts nothing without it, and who killed the daemon is told the cure."""
    mtab = pathlib.Path("/etc/mtab")
    target = os.readlink(mtab) if mtab.is_symlink() else None
    if target is None:
        pytest.skip("/etc/mtab is a file of its own here")
    pid = mounts.mount(small_store, user_point, "restart=no", prefix=as_user())
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon is dead")
    mtab.unlink()
    try:
        assert_refused(mounts.start(small_store, user_point, prefix=as_user()), "/etc/mtab", "ln -s /proc/self/mounts /etc/mtab")
    finally:
        mtab.symlink_to(target)
