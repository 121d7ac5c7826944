# SPDX-License-Identifier: Apache-2.0
"""What a mount is when one of its processes is gone that is not the daemon alone: SEMANTICS.md, L8 and L14."""

import concurrent.futures
import os
import pathlib
import random
import re
import signal
import sys

import pytest

from daemon_deaths import kill_all
from kernel_caches import drop_caches
from mounts import holders, is_running, mount_rows
from patience import wait_until
from prefetching import log_of
from program_runs import run
from skips import measures_memory, needs_root, no_error_at_a_crash
from stores import HELLO, pack, read_hello
from system_calls import errno_of
from test_kill import KILLED
from test_privileges import family

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import cgroup  # noqa: E402

pytestmark = needs_root

READERS = 4
PASSES_MAX = 20
LARGE_FILES = 24
LARGE_BYTES = 4 << 20
ROOMY = 2 << 30  # of the group when the daemon begins, so that it believes in its memory=
TIGHT = 56 << 20  # ... and then: room for all processes of the mount, and not for the files


@pytest.fixture
def group():
    if cgroup.missing():
        pytest.skip(cgroup.missing())
    with cgroup.group(memory_bytes=ROOMY) as made:
        try:
            yield made
        finally:
            made.kill()


def kernel_kills(group):
    """How many processes of the group the kernel has killed because it was full."""
    (folder,) = group.folders
    events = folder / "memory.oom_control"
    text = (events if events.exists() else folder / "memory.events").read_text(encoding="ascii")
    return int(re.search(r"^oom_kill (\d+)$", text, re.MULTILINE)[1])


@measures_memory
@no_error_at_a_crash
def test_its_control_group_is_full(room, mounts, point, augurpack, group):
    """L8: the kernel kills the daemon, which is the largest. The next one takes no more memory than the group has now."""
    tree = room / "tree"
    tree.mkdir()
    names = [str(number) for number in range(LARGE_FILES)]
    for name in names:
        (tree / name).write_bytes(random.Random(name).randbytes(LARGE_BYTES))
    store = pack(augurpack, tree, room / "large-store")
    pid = mounts.mount(store, point, "memory=512M", "cache=ram", f"log={room}/log", prefix=group.prefix)
    (holder,) = holders(point)
    group.set_memory(TIGHT)
    with concurrent.futures.ThreadPoolExecutor(READERS) as readers:
        for _ in range(PASSES_MAX):
            if kernel_kills(group) > 0:
                break
            drop_caches()
            assert all(readers.map(lambda name: (point / name).read_bytes() == (tree / name).read_bytes(), names))
    wait_until(lambda: "the mount is served again" in log_of(room), "another one serves")
    assert f"(process {pid}) was killed by signal 9 (KILL)" in log_of(room)
    assert re.search(r"instead of 512.0 MiB, because memory cgroup \S+ has only 56.0 MiB", log_of(room)), log_of(room)
    assert holders(point) == [holder] and kernel_kills(group) == 1


def restart(mounts, ctl, point):
    """By augurctl. Returns the daemon that serves then."""
    done = run([ctl, "restart", point])
    assert done.returncode == 0, done.stderr
    return mounts.pid(point)


def test_the_helper_was_killed(room, mounts, point, data, ctl):
    """L14: the mount goes on without it, and has one again after augurctl restart."""
    pid = mounts.mount(data.store, point, f"log={room}/log")
    helper = family(pid)["augur-helper"]
    os.kill(helper, signal.SIGKILL)
    wait_until(lambda: "helper process has ended by signal 9" in log_of(room), "the daemon has seen it")
    assert f"'augurctl restart {point}' starts another one" in log_of(room)
    for path in data.paths:
        data.check(point, path)
    assert mounts.pid(point) == pid
    family(restart(mounts, ctl, point))  # has all three
    drop_caches()
    for path in data.paths:
        data.check(point, path)


def test_the_broker_was_killed(room, mounts, point, data, ctl):
    """L14"""
    pid = mounts.mount(data.store, point, f"log={room}/log")
    os.kill(family(pid)["augur-broker"], signal.SIGKILL)
    for path in data.paths:
        data.check(point, path)
    assert mounts.pid(point) == pid
    pid = restart(mounts, ctl, point)
    family(pid)  # has all three
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    wait_until(lambda: holders(point) == [], "the holder ends")
    assert mount_rows(point) == []


def test_a_signal_without_the_broker(room, mounts, point, small_store):
    """L14: nobody can unmount, so readers get errors, and the log has the cure."""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    os.kill(family(pid)["augur-broker"], signal.SIGKILL)
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid) and holders(point) == [], "daemon and holder end")
    assert "augur-broker, which mounts and unmounts, is gone: unmount by hand (umount as root" in log_of(room)
    assert errno_of(os.statvfs, point) in KILLED
    assert run(["umount", point]).returncode == 0


def test_all_processes_but_the_holder_are_killed(room, mounts, point, small_store):
    """L8: as by a user who kills what is called augur."""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    assert read_hello(point) == HELLO
    kill_all(family(pid).values())
    drop_caches()
    assert read_hello(point) == HELLO
    family(mounts.pid(point))  # all are there again
    assert run(["umount", point]).returncode == 0


def test_all_processes_are_killed(room, mounts, point, small_store):
    """L3: as by memory.oom.group, or the end of a container."""
    pid = mounts.mount(small_store, point)
    processes = [*holders(point), *family(pid).values()]
    kill_all(processes)
    wait_until(lambda: not any(map(is_running, processes)), "all are gone")
    assert errno_of(os.statvfs, point) in KILLED
    done = mounts.start(small_store, point)
    assert done.returncode == 0 and "cleared the mount point of an augurfs that had died" in done.stderr
    assert read_hello(point) == HELLO
