# SPDX-License-Identifier: Apache-2.0
"""Who may have another daemon take a mount over, and the rights of that daemon: SEMANTICS.md, L6, L12, L13 and K2."""

import os
import pathlib
import shutil
import signal

from kernel_caches import drop_caches
from mounts import daemons, holders, is_running, mount_rows
from patience import wait_until
from program_runs import NOBODY, as_user, run
from restart_fixtures import assert_goes_on, restart
from skips import needs_root
from stores import HELLO, read_hello
from test_privileges import CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID, assert_holds, threads_status

pytestmark = needs_root


def test_an_ordinary_user(room, mounts, point, ctl, small_store, users_may_mount):
    """L12, K2: by the user who mounted, by root, and by no other; with any program of that user's."""
    os.chown(point, NOBODY, NOBODY)
    (room / "own").mkdir()
    os.chown(room / "own", NOBODY, NOBODY)
    pid = mounts.mount(small_store, point, f"log={room}/own/log", prefix=as_user())
    done = run([*as_user(1234), ctl, "restart", point])
    assert done.returncode == 2 and "run augurctl as the user who mounted" in done.stderr, done
    program = room / "own" / "augurfs"
    shutil.copy(mounts.program, program)
    os.chown(program, NOBODY, NOBODY)
    told = restart(ctl, point, "--binary", program, prefix=as_user())
    assert told["from_process"] == pid
    drop_caches()
    assert run([*as_user(), "cat", point / "hello.txt"]).stdout == HELLO
    pid = told["process"]
    assert threads_status(pid)["CapPrm"] == {"0" * 16} and threads_status(pid)["NoNewPrivs"] == {"1"}
    wait_until(lambda: daemons(mounts.program, point) == [pid], "the one before is gone")
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid) and holders(point) == [], "daemon and holder end")
    assert mount_rows(point) == []


def test_privileges(room, mounts, point, ctl, small_store):
    """L6: those of the first daemon."""
    mounts.mount(small_store, point, f"log={room}/log")
    pid = restart(ctl, point)["process"]
    assert_holds(pid, [CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID])
    assert os.readlink(f"/proc/{pid}/cwd") == "/" and os.getsid(pid) == pid
    assert pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="ascii") == "augurfs\n"


def test_run_as(room, mounts, point, ctl, small_store):
    """L6, L13: the new daemon is that user's, and that user cannot have root run another program."""
    (room / "logs").mkdir()
    os.chown(room / "logs", NOBODY, NOBODY)
    mounts.mount(small_store, point, "allow_other", f"run-as={NOBODY}", f"log={room}/logs/log")
    told = restart(ctl, point, "-o", "memory=96M", prefix=as_user())
    pid = told["process"]
    assert_holds(pid, [])
    assert threads_status(pid)["Uid"] == {"\t".join([str(NOBODY)] * 4)}
    wait_until(lambda: daemons(mounts.program, point) == [pid], "the one before is gone")
    other = room / "augurfs"
    shutil.copy(mounts.program, other)
    assert_goes_on(mounts, ctl, pid, point, ["--binary", other], "serves as another user", mounts.program)
    assert_goes_on(mounts, ctl, pid, point, ["-o", f"log={room}/log"], f"{room}/log")
    assert restart(ctl, point, "--binary", mounts.program)["from_process"] == pid
    drop_caches()
    assert read_hello(point) == HELLO


def test_the_hidden_word(mounts, small_store, point):
    """What a user types in place of augur-holder is refused."""
    for word in ("--inherited=3,4,5,-1,next", "--inherited=0,1,2,-1,go-on", "--inherited=x"):
        done = run([mounts.program, word, small_store, point])
        assert done.returncode == 2 and "--inherited: is for the process augur-holder alone" in done.stderr, done
