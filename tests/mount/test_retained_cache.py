# SPDX-License-Identifier: Apache-2.0
"""The retained cache on real mounts: what is kept outlives the daemon and is shared; and whatever is too small, full, limited or another user's,
every byte is right."""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile

import pytest
from daemon_deaths import end_mount
from kernel_caches import drop_caches
from mounts import daemons, is_running
from patience import wait_until
from prefetching import LARGE, DataSet, Prediction, log_of
from program_runs import NOBODY, run
from shared_memory import ROOT_SHARED
from skips import measures_memory, needs_root

pytestmark = needs_root


def fill_retained_cache(data, ahead):
    """Reads all in an order, and waits until all is kept."""
    ahead.scan()
    order = data.shuffled(9)
    ahead.hint(order)
    ahead.follow(data, order)
    wait_until(lambda: ahead.gauges()["retained_cache_blocks"] == len(data.paths), "all is kept")


@pytest.mark.parametrize("end", ["umount", "kill"])
def test_warm_restart(room, mounts, point, data, ahead, shared_memory, end):
    """What was kept is there after the restart: no disk read for it."""
    pid = mounts.mount(data.store, point, LARGE, "cache=shm", "cache-outlives")
    fill_retained_cache(data, ahead)
    end_mount(pid, point, end)
    assert len(shared_memory()) == 1
    mounts.mount(data.store, point, LARGE, "cache=shm", "cache-outlives")
    drop_caches()
    ahead.scan()
    order = data.shuffled(10)
    ahead.assert_follows(data, order)
    assert ahead.counters()["disk_reads"] == 0
    assert ahead.counters()["corrupt_blocks"] == 0


@pytest.mark.parametrize("cache", ["ram", "shm"])
def test_what_nobody_predicts_gives_way(room, mounts, point, data, ahead, shared_memory, cache):
    """The retained cache is full of files that are in no order, read by this run or by the one before: what is hinted has their place."""
    options = ["memory=96M", f"cache={cache}", "cache-size=8M", "push=off", *(["cache-outlives"] if cache == "shm" else [])]
    pid = mounts.mount(data.store, point, *options)
    paths = data.shuffled(19)
    for path in paths[:400]:  # 12 MB
        data.check(point, path)
    assert ahead.gauges()["retained_cache_bytes"] > 0.9 * ahead.gauges()["retained_cache_bytes_max"]
    if cache == "shm":
        end_mount(pid, point, "umount")
        mounts.mount(data.store, point, *options)
        assert ahead.gauges()["retained_cache_bytes"] > 0.9 * ahead.gauges()["retained_cache_bytes_max"]
    later = paths[400:]  # 6 MB

    def epoch(seed):
        drop_caches()
        before = ahead.counters()["disk_bytes"]
        random.Random(seed).shuffle(later)
        ahead.hint(later)
        ahead.follow(data, later)
        return ahead.counters()["disk_bytes"] - before
    for seed in range(2):
        epoch(seed)
    assert epoch(2) <= sum(data.sizes[path] for path in later) / 4, ahead.status()


def test_smaller_shared_memory_is_given_back(room, mounts, point, data, ahead, shared_memory):
    """A mount that comes alone makes the file as small as its own cache-size, and has what is left in it."""
    pid = mounts.mount(data.store, point, LARGE, "cache=shm", "cache-outlives")
    fill_retained_cache(data, ahead)
    (path,) = shared_memory()
    assert os.stat(path).st_blocks * 512 > data.bytes
    end_mount(pid, point, "umount")
    mounts.mount(data.store, point, LARGE, "cache=shm", "cache-size=8M")
    assert shared_memory() == [path]
    assert os.stat(path).st_blocks * 512 <= 8 << 20
    assert 0.5 * (8 << 20) < ahead.gauges()["retained_cache_bytes"] <= ahead.gauges()["retained_cache_bytes_max"]
    drop_caches()
    for name in data.shuffled(20):
        data.check(point, name)
    assert ahead.counters()["retained_cache_hits"] > 100 and ahead.counters()["corrupt_blocks"] == 0


def test_the_last_mount_removes_the_file(room, mounts, point, data, ctl, ahead, shared_memory):
    """Of two mounts the first that leaves takes nothing away, the second all of it; and the next one begins anew."""
    other_point = room / "other"
    other_point.mkdir()
    first = mounts.mount(data.store, point, LARGE, "cache=shm")
    second = mounts.mount(data.store, other_point, LARGE, "cache=shm")
    fill_retained_cache(data, ahead)
    (path,) = shared_memory()
    end_mount(first, point, "umount")
    assert shared_memory() == [path]
    other = Prediction(ctl, other_point)
    assert other.gauges()["retained_cache_blocks"] == len(data.paths)
    end_mount(second, other_point, "umount")
    assert shared_memory() == []
    mounts.mount(data.store, point, LARGE, "cache=shm")
    assert ahead.gauges()["retained_cache_blocks"] == 0


def test_one_that_asks_is_enough_and_one_that_comes_alone_says_anew(room, mounts, point, data, shared_memory):
    other_point = room / "other"
    other_point.mkdir()
    first = mounts.mount(data.store, point, LARGE, "cache=shm", "cache-outlives")
    second = mounts.mount(data.store, other_point, LARGE, "cache=shm")
    end_mount(first, point, "umount")
    end_mount(second, other_point, "umount")
    assert len(shared_memory()) == 1
    end_mount(mounts.mount(data.store, point, LARGE, "cache=shm"), point, "umount")
    assert shared_memory() == []


def test_what_a_killed_daemon_leaves_goes_with_the_next(room, mounts, point, data, shared_memory):
    end_mount(mounts.mount(data.store, point, LARGE, "cache=shm"), point, "kill")
    assert len(shared_memory()) == 1
    end_mount(mounts.mount(data.store, point, LARGE, "cache=shm"), point, "umount")
    assert shared_memory() == []


def test_status_says_what_the_file_takes(room, mounts, point, data, ctl, ahead, shared_memory):
    """Not its size, which is that of the address space: what stat(2) says that its blocks are."""
    mounts.mount(data.store, point, LARGE, "cache=shm")
    fill_retained_cache(data, ahead)
    ahead.wait_idle()
    (path,) = shared_memory()
    info = os.stat(path)
    taken = ahead.gauges()["retained_cache_taken_bytes"]
    assert taken == info.st_blocks * 512 and data.bytes < taken < info.st_size
    status = ahead.status()
    assert status["mount"]["shared_file"] == path
    screen = run([ctl, "status", point]).stdout
    assert f"its file {path} takes " in screen, screen


def test_two_mounts_share(room, mounts, point, data, ctl, ahead, shared_memory):
    other_point = room / "other"
    other_point.mkdir()
    mounts.mount(data.store, point, LARGE, "cache=shm")
    mounts.mount(data.store, other_point, LARGE, "cache=shm")
    fill_retained_cache(data, ahead)
    assert len(shared_memory()) == 1
    other = Prediction(ctl, other_point)
    other.scan()
    order = data.shuffled(11)
    other.assert_follows(data, order)
    assert other.counters()["disk_reads"] == 0
    # Who empties it empties it for both, and both go on.
    assert ahead.drop()["retained_cache_bytes"] > 0
    drop_caches()
    for path in data.shuffled(12):
        data.check(other_point, path)
        data.check(point, path)


def test_retained_cache_of_a_removed_store_is_swept(room, mounts, point, data, own_data, shared_memory):
    mounts.mount(own_data.store, point, LARGE, "cache=shm", "cache-outlives")
    own_data.check(point, own_data.paths[0])
    (path,) = shared_memory()
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not daemons(mounts.program, point), "the daemon ends")
    shutil.rmtree(own_data.store)
    mounts.mount(data.store, point, LARGE, "cache=shm", f"log={room / 'log'}", says=f"{path}: removed")
    assert path not in shared_memory()
    assert f"{path}: removed" in log_of(room)


def test_retained_cache_of_another_user_is_not_touched(room, mounts, point, data, ahead, shared_memory):
    mounts.mount(data.store, point, LARGE, "cache=shm", "cache-outlives")
    (path,) = shared_memory()
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not daemons(mounts.program, point), "the daemon ends")
    os.unlink(path)
    trap = b"this is not yours\n" * 1000
    pathlib.Path(path).write_bytes(trap)
    os.chown(path, NOBODY, NOBODY)
    mounts.mount(data.store, point, LARGE, "cache=shm", f"log={room / 'log'}", says=path)
    assert path in log_of(room)
    order = data.shuffled(13)
    ahead.hint(order)
    for name in order:
        data.check(point, name)
    assert pathlib.Path(path).read_bytes() == trap


class Namespace:
    """A mount namespace of its own, with shared memory of the given size for root."""

    def __init__(self, size):
        # In a chroot "/" need not be a mount, so what is made private is what the folder lies on.
        script = (f'mount --make-private "$(findmnt -nro TARGET -T /run | tail -n 1)" && mkdir -p -m 700 {ROOT_SHARED} && '
                  f'mount -t tmpfs -o size={size},mode=700 tmpfs {ROOT_SHARED} && echo ready && exec sleep 1000')
        self.holder = subprocess.Popen(["unshare", "-m", "--propagation", "unchanged", "sh", "-c", script], stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline() == "ready\n"
        self.prefix = ["nsenter", "-t", str(self.holder.pid), "-m", "-r", "--"]
        self.root = pathlib.Path(f"/proc/{self.holder.pid}/root")

    def see(self, path):
        """A path of the namespace, from outside."""
        return self.root / pathlib.Path(path).relative_to("/")


@pytest.fixture
def namespace():
    made = []

    def make(size):
        made.append(Namespace(size))
        return made[-1]
    try:
        yield make
    finally:
        for one in made:
            one.holder.kill()
            one.holder.communicate()


@pytest.mark.parametrize("fill_mib", [0, 63], ids=["small", "full"])
def test_small_shared_memory(room, mounts, point, data, ctl, namespace, fill_mib):
    """64 MB, as containers have it, and the same when it is full: a message, no SIGBUS, and every byte is right."""
    inside = namespace("64m")
    if fill_mib:
        (inside.see(ROOT_SHARED) / "filler").write_bytes(bytes(fill_mib << 20))
    pid = mounts.mount(data.store, point, "memory=512M", "cache=shm", f"log={room / 'log'}", prefix=inside.prefix, says=str(ROOT_SHARED))
    try:
        ahead = Prediction(ctl, point, inside.prefix)
        mount = inside.see(point)
        assert str(ROOT_SHARED) in log_of(room), log_of(room)
        assert ahead.try_hint(data.shuffled(14) + data.shuffled(15)).returncode == 0
        for path in data.shuffled(14):
            data.check(mount, path)
        # Somebody else takes what is left.
        with contextlib.suppress(OSError):
            (inside.see(ROOT_SHARED) / "more").write_bytes(bytes(64 << 20))
        for path in data.shuffled(15):
            data.check(mount, path)
        assert is_running(pid)
    finally:
        run([*inside.prefix, "umount", "-l", point])
        with contextlib.suppress(ProcessLookupError):  # the end of the mount may have ended it
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not is_running(pid), "the daemon ends")


@pytest.fixture
def memory_group():
    """Makes a memory cgroup (version 1) with a limit; gives its folder and the words that run a command in it."""
    base = pathlib.Path("/sys/fs/cgroup/memory")
    if not (base / "memory.limit_in_bytes").exists():
        pytest.skip("needs the memory controller of cgroup version 1")
    made = []

    def make(limit_bytes):
        group = pathlib.Path(tempfile.mkdtemp(prefix="augurfs-test-", dir=base))
        made.append(group)
        (group / "memory.limit_in_bytes").write_text(str(limit_bytes))
        return group, ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
    try:
        yield make
    finally:
        for group in made:
            for pid in (group / "cgroup.procs").read_text().split():
                os.kill(int(pid), signal.SIGKILL)
            wait_until(lambda group=group: not (group / "cgroup.procs").read_text().split(), "the group is empty")
            group.rmdir()


@measures_memory
@pytest.mark.parametrize("cache", ["ram", "shm"])
def test_memory_limit_below_the_wish(room, mounts, point, augurpack, ctl, memory_group, shared_memory, cache):
    """A group of 200 MB, a wish of 1 GB, 260 MB of data: a message, nobody is killed, all is read."""
    folder = room / "large"
    folder.mkdir()
    data = DataSet(augurpack, folder, 650, 800_000)
    group, prefix = memory_group(200 << 20)
    pid = mounts.mount(data.store, point, "memory=1G", f"cache={cache}", f"log={room / 'log'}", prefix=prefix, says="instead of 1")
    assert str(pid) in (group / "cgroup.procs").read_text().split()
    assert "instead of 1" in log_of(room)
    ahead = Prediction(ctl, point)
    for seed in (16, 17):
        order = data.shuffled(seed)
        ahead.hint(order)
        for path in order:
            data.check(point, path)
    assert is_running(pid)
    assert "oom_kill 0\n" in (group / "memory.oom_control").read_text()
    ahead.wait_settled(0.3)  # drops, too: a umount in the middle of a batch is refused, as with any reader
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not is_running(pid), "the daemon ends")
