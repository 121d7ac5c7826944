# SPDX-License-Identifier: Apache-2.0
"""Nothing can be changed: SEMANTICS.md, R8 to R10."""

import errno
import fcntl
import os
import stat

import pytest

from mounts import mount_rows
from odd_tree import walk
from program_runs import run
from skips import needs_root
from system_calls import errno_of

pytestmark = needs_root


def write_attempts(top):
    """Every way to change something: a name and a call that must fail."""
    file, folder = top / "plain.JPEG", top / "raw"
    attempts = {
        "create": lambda: os.open(top / "new", os.O_WRONLY | os.O_CREAT),
        "open to write": lambda: os.write(os.open(file, os.O_WRONLY), b"x"),
        "truncating open": lambda: os.open(file, os.O_WRONLY | os.O_TRUNC),
        "append": lambda: os.write(os.open(file, os.O_WRONLY | os.O_APPEND), b"x"),
        "truncate": lambda: os.truncate(file, 5),
        "mkdir": lambda: os.mkdir(top / "new"),
        "rmdir": lambda: os.rmdir(top / "empty-folder"),
        "unlink": lambda: os.unlink(file),
        "rename": lambda: os.rename(file, top / "new"),
        "rename over": lambda: os.rename(file, top / "one"),
        "link": lambda: os.link(file, top / "new"),
        "symlink": lambda: os.symlink("x", top / "new"),
        "mknod": lambda: os.mknod(top / "new", stat.S_IFREG | 0o600),
        "mkfifo": lambda: os.mkfifo(top / "new"),
        "chmod": lambda: os.chmod(file, 0o600),
        "chown": lambda: os.chown(folder, 1, 1),
        "utime": lambda: os.utime(file, (1, 1)),
        "fallocate": lambda: os.posix_fallocate(os.open(file, os.O_WRONLY), 0, 10),
    }
    return attempts


def open_descriptors():
    return set(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("writable", [False, True])
def test_nothing_can_be_changed(room, mounts, point, tree, store, writable):
    """R8: also after a remount that takes the kernel's own refusal away."""
    mounts.mount(store, point)
    before = walk(point)
    if writable:
        # -i: past the helper, which has no remount
        assert run(["mount", "-i", "-o", "remount,rw", point]).returncode == 0
        assert "rw" in mount_rows(point)[0]["super_options"]
    for name, attempt in write_attempts(point).items():
        known = open_descriptors()
        assert errno_of(attempt) == errno.EROFS, name
        for fd in open_descriptors() - known:
            try:
                os.close(int(fd))
            except OSError:
                pass
    assert walk(point) == before
    assert (point / "plain.JPEG").read_bytes() == (tree / "plain.JPEG").read_bytes()


def test_no_extended_attributes(mounted):
    """R9"""
    assert errno_of(os.getxattr, mounted / "plain.JPEG", "user.x") == errno.EOPNOTSUPP
    assert errno_of(os.listxattr, mounted / "plain.JPEG") == errno.EOPNOTSUPP
    assert errno_of(os.setxattr, mounted / "plain.JPEG", "user.x", b"1") in (errno.EOPNOTSUPP, errno.EROFS)


def test_locks_are_local(mounted):
    """R10"""
    with open(mounted / "plain.JPEG", "rb") as one, open(mounted / "plain.JPEG", "rb") as other:
        fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert errno_of(fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB) == errno.EWOULDBLOCK
        fcntl.flock(one, fcntl.LOCK_UN)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(one, fcntl.LOCK_SH | fcntl.LOCK_NB)
