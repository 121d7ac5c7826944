# SPDX-License-Identifier: Apache-2.0
"""What the daemon and its processes may still do once the mount is made: SEMANTICS.md, L6."""

import contextlib
import os
import pathlib
import pwd
import signal

import pytest

from mounts import children, is_running, mount_rows
from patience import wait_until
from program_runs import NOBODY, as_user, assert_refused, run
from skips import looks_at_all_threads, needs_root
from stores import HELLO, read_hello

pytestmark = needs_root

# Numbers of linux/capability.h.
CAP_DAC_READ_SEARCH = 2
CAP_SETGID = 6
CAP_SETUID = 7
CAP_SYS_PTRACE = 19
CAP_SYS_ADMIN = 21


def family(pid):
    """{name: pid} of the daemon, its broker and its helper, once they have their names: each is forked with the daemon's."""
    found = {}

    def are_named():
        found.clear()
        found.update(children(pid))
        return set(found) == {"augur-broker", "augur-helper"}

    wait_until(are_named, lambda: found)
    return {"augurfs": pid, **found}


def threads_status(pid):
    """{field: values} of /proc/PID/task/*/status: capabilities are each thread's own."""
    values = {}
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            for line in path.read_text(errors="replace").splitlines():
                name, _, value = line.partition(":")
                values.setdefault(name, set()).add(value.strip())
    return values


def mask(capabilities):
    return sum(1 << number for number in capabilities)


def capabilities_of(pid, name):
    """The masks of all threads."""
    return {int(value, 16) for value in threads_status(pid)[name]}


def assert_holds(pid, capabilities, bounding=None):
    """Every thread: these capabilities and no other, nor a way to get one beyond the bounding set, by default the same."""
    status = threads_status(pid)
    for name in ("CapPrm", "CapEff"):
        assert {int(value, 16) for value in status[name]} == {mask(capabilities)}, (name, status[name])
    assert {int(value, 16) for value in status["CapBnd"]} == {mask(bounding or capabilities)}, status["CapBnd"]
    for name in ("CapInh", "CapAmb"):
        assert {int(value, 16) for value in status[name]} == {0}, (name, status[name])
    assert status["NoNewPrivs"] == {"1"}


@looks_at_all_threads
def test_root_keeps_what_it_needs(room, mounts, point, small_store):
    pid = mounts.mount(small_store, point)
    assert read_hello(point) == HELLO
    processes = family(pid)
    assert_holds(pid, [CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID])
    assert_holds(processes["augur-broker"], [CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SYS_ADMIN])
    # It gives up the others before it does anything else, when it is first scheduled.
    helper = processes["augur-helper"]
    wait_until(lambda: capabilities_of(helper, "CapEff") == {mask([CAP_DAC_READ_SEARCH])}, lambda: threads_status(helper))
    assert_holds(helper, [CAP_DAC_READ_SEARCH], [CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID])


def test_root_reads_a_store_of_another_user(room, mounts, point, own_store):
    """By CAP_DAC_READ_SEARCH."""
    for path in [own_store, *own_store.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
        path.chmod(0o700 if path.is_dir() else 0o400)
    mounts.mount(own_store, point)
    assert read_hello(point) == HELLO


@looks_at_all_threads
def test_a_users_daemon_has_none(room, mounts, point, small_store, users_may_mount):
    """The broker can still run fusermount3, which is set-user-id."""
    users_may_mount.write_text("user_allow_other\n", encoding="ascii")
    os.chown(point, NOBODY, NOBODY)
    pid = mounts.mount(small_store, point, "allow_other", prefix=as_user())
    processes = family(pid)
    for name in ("augurfs", "augur-helper"):
        status = threads_status(processes[name])
        assert status["NoNewPrivs"] == {"1"} and status["CapPrm"] == {"0" * 16}
    assert threads_status(processes["augur-broker"])["CapPrm"] == {"0" * 16}
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert mount_rows(point) == []


@pytest.fixture
def home():
    """A user of the system, whose home is no folder of ours."""
    return pwd.getpwnam("nobody")


@looks_at_all_threads
@pytest.mark.parametrize("spelling", ["name", "number"])
def test_run_as(room, mounts, point, small_store, ctl, home, spelling):
    user = home.pw_name if spelling == "name" else str(home.pw_uid)
    pid = mounts.mount(small_store, point, "allow_other", f"run-as={user}")
    assert read_hello(point) == HELLO
    assert os.stat(point / "hello.txt").st_uid == home.pw_uid
    processes = family(pid)
    for name in ("augurfs", "augur-helper"):
        assert_holds(processes[name], [])
        status = threads_status(processes[name])
        assert status["Uid"] == {"\t".join([str(home.pw_uid)] * 4)} and status["Gid"] == {"\t".join([str(home.pw_gid)] * 4)}
        assert status["Groups"] == {str(home.pw_gid)}
    assert_holds(processes["augur-broker"], [CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SYS_ADMIN])
    # As if the user had mounted: the socket, and who may use it.
    assert os.stat((point / ".augur" / "control").read_text().strip()).st_uid == home.pw_uid
    for prefix in ([], as_user(home.pw_uid)):
        done = run([*prefix, ctl, "status", point])
        assert done.returncode == 0, done.stderr
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert mount_rows(point) == []


def test_run_as_without_allow_other(room, mounts, point, small_store, home):
    """The mount is the user's, and as with any user's not even root looks in."""
    mounts.mount(small_store, point, f"run-as={home.pw_name}")
    done = run([*as_user(home.pw_uid), "cat", point / "hello.txt"])
    assert (done.returncode, done.stdout) == (0, HELLO)
    assert run(["cat", point / "hello.txt"]).returncode != 0


def test_run_as_ends_like_any_mount(room, mounts, point, small_store, home):
    for end in (["umount", point], None):
        pid = mounts.mount(small_store, point, "allow_other", "restart=no", f"run-as={home.pw_name}")
        if end:
            assert run(end).returncode == 0
        else:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda pid=pid: not is_running(pid), "the daemon ends")


@pytest.mark.parametrize("closed", ["manifest", "shard-*"])
def test_run_as_who_may_not_read_the_store(room, mounts, point, own_store, home, closed):
    for path in own_store.glob(closed):
        path.chmod(0o600)
    done = mounts.start(own_store, point, f"run-as={home.pw_name}")
    assert_refused(done, str(own_store), closed.rstrip("*"), f"user {home.pw_name}", "run-as", "chmod")
    assert mount_rows(point) == []


def test_run_as_nobody_of_that_name(room, mounts, point, small_store):
    assert_refused(mounts.start(small_store, point, "run-as=no-such-user"), "no-such-user", "no user of that name")


def test_run_as_is_for_root(room, mounts, point, small_store, users_may_mount):
    os.chown(point, NOBODY, NOBODY)
    done = mounts.start(small_store, point, "run-as=root", prefix=as_user())
    assert_refused(done, "run-as=root", "only root")


def test_run_as_writes_the_users_log(room, mounts, point, small_store, home):
    """Not root's: a link that the user has put there leads to no file of root's."""
    (room / "logs").mkdir()
    os.chown(room / "logs", home.pw_uid, home.pw_gid)
    mounts.mount(small_store, point, "allow_other", f"run-as={home.pw_name}", f"log={room}/logs/log")
    assert os.stat(room / "logs" / "log").st_uid == home.pw_uid
    assert run(["umount", point]).returncode == 0
    (room / "root-only").write_text("")
    (room / "root-only").chmod(0o600)
    (room / "logs" / "other").symlink_to(room / "root-only")
    assert_refused(mounts.start(small_store, point, f"run-as={home.pw_name}", f"log={room}/logs/other"), "other")
    assert (room / "root-only").read_text() == ""
