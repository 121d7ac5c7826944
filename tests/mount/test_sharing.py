# SPDX-License-Identifier: Apache-2.0
"""One store for many, one mount in many places: SEMANTICS.md, L4."""

import errno
import json
import os
import pathlib
import stat
import subprocess

from mounts import mount_rows
from patience import PATIENCE_S, wait_until
from program_runs import NOBODY, as_user, assert_refused, run
from skips import needs_root
from system_calls import errno_of

pytestmark = needs_root


def test_read_only_file_system(room, mounts, point, tree, store):
    """L4: the store on a file system where nothing can be written."""
    (room / "read-only").mkdir()
    assert run(["mount", "--bind", store, room / "read-only"]).returncode == 0
    try:
        assert run(["mount", "-o", "remount,bind,ro", room / "read-only"]).returncode == 0
        assert errno_of((room / "read-only" / "x").touch) == errno.EROFS
        mounts.mount(room / "read-only", point)
        assert (point / "plain.JPEG").read_bytes() == (tree / "plain.JPEG").read_bytes()
        assert run(["umount", point]).returncode == 0
        wait_until(lambda: run(["umount", room / "read-only"]).returncode == 0, "the store is let go")
    finally:
        if mount_rows(room / "read-only"):
            subprocess.run(["umount", "-l", room / "read-only"], check=True)


def test_several_users_mount_one_store(room, mounts, store, users_may_mount):
    """L4"""
    for uid in (NOBODY, 1):  # fusermount3 wants users that have a name
        folder = room / str(uid)
        folder.mkdir()
        os.chown(folder, uid, uid)
        mounts.mount(store, folder, prefix=as_user(uid))
    for uid in (NOBODY, 1):  # fusermount3 wants users that have a name
        assert run([*as_user(uid), "cat", room / str(uid) / "one"]).stdout == "x"


def test_users_of_a_group_share(room, mounts, store, ctl, users_may_mount, shared_memory):
    """cache-group=: what one user's mount has kept, another's takes from there; a third, who is not in the group, does not."""
    group = 54321
    counters = []
    for uid, groups, says in ((NOBODY, str(group), ""), (1, str(group), ""), (2, "2", "Permission denied")):
        folder = room / str(uid)
        folder.mkdir()
        os.chown(folder, uid, uid)
        member = ["setpriv", f"--reuid={uid}", f"--regid={uid}", f"--groups={groups}", "--"]
        mounts.mount(store, folder, "memory=256M", "cache=shm", f"cache-group={group}", prefix=member, says=says)
        assert run([*member, "cat", folder / "plain.JPEG"]).returncode == 0
        status = json.loads(run([*member, "cat", folder / ".augur" / "stats.json"]).stdout)
        counters.append((status["counters"]["retained_cache_hits"] > 0, status["counters"]["disk_reads"] > 0))
    assert counters == [(False, True), (True, False), (False, True)]
    (path,) = shared_memory()
    info = os.stat(path)
    assert (info.st_gid, stat.S_IMODE(info.st_mode)) == (group, 0o660)


def test_a_group_that_is_not_there(room, mounts, point, store):
    assert_refused(mounts.start(store, point, "cache=shm", "cache-group=no-such-group"), "no-such-group")


def test_bound_into_another_namespace(room, private_room, mounts, point, tree, store):
    """L4: as a container does with a volume."""
    mounts.mount(store, point)
    (room / "inside").mkdir()
    script = f"mount --bind {point} {room}/inside && cat {room}/inside/plain.JPEG && grep -c {room}/inside /proc/self/mountinfo >&2"
    done = subprocess.run(["unshare", "-m", "--propagation", "unchanged", "sh", "-c", script], capture_output=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stderr) == (0, b"1\n")
    assert done.stdout == (tree / "plain.JPEG").read_bytes()
    assert list((room / "inside").iterdir()) == []


def test_lives_on_in_another_namespace(room, private_room, mounts, point, store):
    """A bind in another namespace keeps the mount alive when it is unmounted here."""
    pid = mounts.mount(store, point)
    holder = subprocess.Popen(["unshare", "-m", "--propagation", "unchanged", "sh", "-c", f"echo ready; read line; cat {point}/one"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"ready\n"
        assert run(["umount", point]).returncode == 0
        out, _ = holder.communicate(b"go\n", timeout=PATIENCE_S)
        assert out == b"x"
        wait_until(lambda: not pathlib.Path(f"/proc/{pid}/task").exists() or not run(["pgrep", "-g", str(pid)]).stdout, "ended")
    finally:
        if holder.poll() is None:
            holder.kill()
            holder.communicate()
