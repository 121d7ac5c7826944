# SPDX-License-Identifier: Apache-2.0
"""Who may speak with a daemon by its control socket, and whose daemon answers: SEMANTICS.md, K1 to K3 and K5."""

import json
import os
import pathlib
import pwd
import signal
import stat

import pytest
from control_socket import socket_of
from mounts import is_running
from patience import wait_until
from program_runs import NOBODY, as_user, run
from skips import needs_root
from stores import HELLO

pytestmark = needs_root


def test_another_user_is_refused(room, mounts, point, small_store, ctl):
    """K2: by the folder, and where that were open, by the daemon itself."""
    mounts.mount(small_store, point, "allow_other")
    path = socket_of(point)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    done = run([*as_user(), ctl, "status", point])
    assert done.returncode == 2 and "only root and the user who mounted" in done.stderr
    open_room = room / "open"
    open_room.mkdir()
    assert run(["mount", "--bind", path.parent, open_room]).returncode == 0
    try:
        # Another way to the socket, without the closed folder: its bits are opened for the time of the test.
        path.parent.chmod(0o711)
        path.chmod(0o666)
        for command in (["status"], ["drop"]):
            done = run([*as_user(), ctl, *command, point])
            assert done.returncode == 2 and "only root and user 0" in done.stderr, done.stderr
            assert done.stdout == ""
    finally:
        path.parent.chmod(0o700)
        path.chmod(0o600)
        assert run(["umount", open_room]).returncode == 0


def test_a_mount_leads_to_no_other_daemon(room, mounts, point, small_store, ctl, users_may_mount):
    """K5: a user's mount that names the socket of root's daemon; root asks the user's mount."""
    users_may_mount.write_text("user_allow_other\n", encoding="ascii")
    rooted = room / "rooted"
    rooted.mkdir()
    mounts.mount(small_store, rooted)
    os.chown(point, NOBODY, NOBODY)
    mounts.mount(small_store, point, "allow_other", prefix=as_user())
    own = socket_of(point)
    moved = own.with_suffix(".moved")
    own.rename(moved)
    own.symlink_to(socket_of(rooted))
    try:
        for words in (["status", point], ["status", "--json", point], ["drop", point], ["views", point]):
            done = run([ctl, *words])
            assert (done.returncode, done.stdout) == (2, "")
            assert f"the mount is user {NOBODY}'s" in done.stderr and "a program of user 0 listens" in done.stderr, done.stderr
    finally:
        own.unlink()
        moved.rename(own)
    assert run([ctl, "status", point]).returncode == 0


def test_without_allow_other_the_mount_says_no(room, mounts, point, small_store, ctl):
    """K2"""
    mounts.mount(small_store, point)
    done = run([*as_user(), ctl, "status", point])
    assert done.returncode == 2 and "as the user who mounted" in done.stderr


@pytest.mark.parametrize("with_runtime_folder", [True, False])
def test_an_ordinary_user_has_it_too(room, mounts, point, small_store, ctl, users_may_mount, with_runtime_folder):
    """K1, K2: the user and root may ask."""
    users_may_mount.write_text("user_allow_other\n", encoding="ascii")
    os.chown(point, NOBODY, NOBODY)
    runtime = room / "runtime"
    runtime.mkdir(mode=0o700)
    os.chown(runtime, NOBODY, NOBODY)
    environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    if with_runtime_folder:
        environment["XDG_RUNTIME_DIR"] = str(runtime)
    pid = mounts.mount(small_store, point, "allow_other", prefix=as_user(), env=environment)
    path = socket_of(point)
    assert path.parent == (runtime / "augurfs" if with_runtime_folder else pathlib.Path(f"/tmp/augurfs-{NOBODY}"))
    assert run([*as_user(), ctl, "status", point], env={}).returncode == 0
    assert run([ctl, "status", point]).returncode == 0
    done = run([*as_user(NOBODY - 1), ctl, "status", point])
    assert done.returncode == 2 and "only root and the user who mounted" in done.stderr
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert not path.exists()


def test_without_a_place_for_the_socket(room, mounts, point, small_store, ctl, users_may_mount):
    """K3: the mount is as good; the log says what is missing, and augurctl where to look."""
    user = pwd.getpwnam("man").pw_uid  # no other test has a daemon of this user, whose folder would be there
    users_may_mount.write_text("user_allow_other\n", encoding="ascii")
    os.chown(point, user, user)
    room.chmod(0o777)
    blocked = pathlib.Path(f"/tmp/augurfs-{user}")
    blocked.mkdir()
    try:
        environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
        mounts.mount(small_store, point, "allow_other", f"log={room / 'log'}", prefix=as_user(user), env=environment)
        assert (point / "hello.txt").read_text(encoding="ascii") == HELLO
        assert "augurctl will not reach this mount" in (room / "log").read_text(encoding="utf-8")
        done = run([ctl, "status", point])
        assert done.returncode == 2 and "has no control socket: its log says why" in done.stderr
        assert json.loads((point / ".augur" / "stats.json").read_bytes())["counters"]
    finally:
        blocked.rmdir()
