# SPDX-License-Identifier: Apache-2.0
"""What the tests of a daemon that follows another one share: after a death, and by 'augurctl restart' or 'augurctl reload'."""

import json
import os
import signal

import pytest

from kernel_caches import drop_caches
from mounts import daemons, holders
from patience import wait_until
from processes import open_files
from program_runs import run
from test_mount_command import HandedDown


def assert_served_again(log, times):
    """So many daemons have gone on with the mount by now. What is read before that may cost an error after a crash (L15)."""

    def text():
        return log.read_text(encoding="utf-8")

    wait_until(lambda: text().count("the mount is served again") == times, lambda: f"served again {times} times:\n{text()}")


def mount_handed_down(mounts, room, point, store):
    """Over a descriptor of a mount that was made before. Returns the descriptor's name, which the daemon has in its command line."""
    mounts.points.append(point)
    handed = HandedDown(point)
    name = f"/dev/fd/{handed.fd}"
    done = run([mounts.program, store, name, "-o", f"log={room}/log"], pass_fds=[handed.fd])
    os.close(handed.fd)
    assert done.returncode == 0, done.stderr
    return name


class Killer:
    """Kills the daemon of a mount, and waits until another one has gone on with it."""

    def __init__(self, mounts, room, point, name=None):
        self.mounts, self.room, self.point, self.name = mounts, room, point, name or point
        self.kills = 0

    def kill(self, number=signal.SIGKILL):
        os.kill(self.mounts.pid(self.name), number)
        self.kills += 1
        assert_served_again(self.room / "log", self.kills)
        return self.mounts.pid(self.name)


@pytest.fixture
def killer(mounts, room, point):
    return Killer(mounts, room, point)


def assert_open_stays_usable(point, images, change):
    """W6: files, folders and views that were open before `change()` mean the same afterwards, with the same inode numbers."""
    name = sorted(images)[0]
    array = f"{os.path.splitext(name)[0]}.npy"
    views = point / ".augur" / "views"
    # In this order, so that a number that were given anew would be another one.
    paths = [views / "npy+size=12" / array, views / "npy+size=24" / array, views / "pixels" / name, point / name]
    whole = [path.read_bytes() for path in paths]
    opened = [os.open(path, os.O_RDONLY) for path in paths]
    inodes = [os.fstat(fd).st_ino for fd in opened]
    folder = os.open(views / "npy+size=24" / os.path.dirname(name), os.O_RDONLY | os.O_DIRECTORY)
    listed = os.listdir(folder)
    try:
        for _ in range(2):
            change()
            drop_caches()
            assert [os.pread(fd, len(data) + 1, 0) for fd, data in zip(opened, whole)] == whole
            assert sorted(os.listdir(folder)) == sorted(listed)
            assert os.stat(views / "npy+size=36" / array).st_ino not in inodes
            assert [path.stat().st_ino for path in reversed(paths)] == inodes[::-1]
    finally:
        for fd in [*opened, folder]:
            os.close(fd)


def restart(ctl, point, *options, prefix=()):
    """Upgrades a mount; it must succeed. Returns what augurctl prints as JSON."""
    done = run([*prefix, ctl, "restart", "--json", point, *options])
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


def assert_goes_on(mounts, ctl, pid, point, options, *words, name=None, prefix=()):
    """Such an upgrade is refused with these words, and the daemon that serves is the same as before."""
    done = run([*prefix, ctl, "restart", point, *options])
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.startswith(f"augurctl: {point}: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
    wait_until(lambda: daemons(mounts.program, name or point) == [pid], "no other daemon is there")


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
    path.chmod(0o755)
    return path


def shared_state(point):
    """The memory that outlives daemons: a path under /proc."""
    (holder,) = holders(point)
    (state,) = [path for path, target in open_files(holder).items() if "augurfs-state" in target]
    return state
