# SPDX-License-Identifier: Apache-2.0
"""A daemon dies and another one goes on with the mount: SEMANTICS.md, L8 to L11."""

import ctypes
import hashlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from conftest import (
    HELLO,
    NOBODY,
    PATIENCE_S,
    as_user,
    crash_until,
    daemons,
    drop_caches,
    end_mount,
    errno_of,
    holders,
    is_running,
    kill_all,
    libc,
    looks_at_all_threads,
    mount_rows,
    needs_root,
    no_error_at_a_crash,
    open_files,
    read_hello,
    run,
    statistics,
    thread_names,
    wait_until,
)
from prefetching import SMALL, DataSet, Prediction, log_of
from test_kill import KILLED
from test_mount_command import HandedDown
from test_privileges import (
    CAP_DAC_READ_SEARCH,
    CAP_SETGID,
    CAP_SETUID,
    CAP_SYS_ADMIN,
    CAP_SYS_PTRACE,
    assert_holds,
    family,
    threads_status,
)

pytestmark = needs_root

KILLS = 20
SERVED_AGAIN = "the mount is served again"
CAP_KILL = 5
CAP_SETPCAP = 8


class Killer:
    """Kills the daemon of a mount, and waits until another one has gone on with it."""

    def __init__(self, mounts, room, point, name=None):
        self.mounts, self.room, self.point, self.name = mounts, room, point, name or point
        self.kills = 0

    def kill(self, number=signal.SIGKILL):
        os.kill(self.mounts.pid(self.name), number)
        self.kills += 1
        wait_until(lambda: log_of(self.room).count(SERVED_AGAIN) == self.kills, lambda: f"served again:\n{log_of(self.room)}")
        return self.mounts.pid(self.name)


@pytest.fixture
def killer(mounts, room, point):
    return Killer(mounts, room, point)


def run_epoch(room, sums, folder, killer):
    """An epoch of a DataLoader in which the daemon is killed KILLS times, each time while its workers read."""
    (room / "sums").write_text(json.dumps(sums), encoding="utf-8")
    script = pathlib.Path(__file__).with_name("loader_epoch.py")
    epoch = subprocess.Popen([sys.executable, script, room / "sums", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    try:
        batches = -(-len(sums) // 10)
        kills_before = killer.kills
        for number in range(batches):
            line = epoch.stdout.readline()
            if not line:
                pytest.fail(epoch.communicate()[1])
            epoch.stdin.write("\n")
            epoch.stdin.flush()
            due = KILLS * (number + 1) // batches
            while killer.kills - kills_before < due:
                drop_caches()
                killer.kill()
        _, errors = epoch.communicate(timeout=PATIENCE_S)
        assert epoch.returncode == 0, errors
        assert killer.kills - kills_before == KILLS
    finally:
        epoch.kill()
        epoch.communicate()


@no_error_at_a_crash
def test_an_epoch_of_a_dataloader(room, mounts, point, killer, augurpack, ahead):
    """L8, R1: 20 kills in an epoch, with an order that is followed, files that are pushed, and files that are dropped."""
    pytest.importorskip("torch")
    folder = room / "own"
    folder.mkdir()
    data = DataSet(augurpack, folder, 400, 60_000)
    mounts.mount(data.store, point, "memory=64M", f"log={room}/log")
    sums = {path: hashlib.sha256((point / path).read_bytes()).hexdigest() for path in data.paths}
    for path in data.paths:
        data.check(point, path)
    drop_caches()
    run_epoch(room, sums, point, killer)
    now = ahead.status()
    assert now["counters"]["restarts"] == KILLS
    assert now["counters"]["read_failures"] == 0 and now["counters"]["corrupt_blocks"] == 0
    assert now["counters"]["reads"] + now["counters"]["pushes"] >= len(data.paths)  # those of all daemons


@no_error_at_a_crash
def test_an_epoch_of_a_view(room, mounts, point, killer, view_images, view_images_store):
    """L8, W1: the arrays are Pillow's, whichever daemon has decoded them."""
    pytest.importorskip("torch")
    numpy = pytest.importorskip("numpy")
    image = pytest.importorskip("PIL.Image")
    mounts.mount(view_images_store, point, f"log={room}/log")
    sums = {}
    for path, data in view_images.items():
        file = io.BytesIO()
        numpy.save(file, numpy.asarray(image.open(io.BytesIO(data)).convert("RGB")))
        sums[f"{os.path.splitext(path)[0]}.npy"] = hashlib.sha256(file.getvalue()).hexdigest()
    run_epoch(room, sums, point / ".augur" / "views" / "npy", killer)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_a_crash(room, mounts, point, killer, data, ctl, number):
    """L8: told in the log and in the status, with the signal."""
    mounts.mount(data.store, point, f"log={room}/log")
    killer.kill(number)
    drop_caches()
    for path in data.paths:
        data.check(point, path)
    name = {signal.SIGSEGV: "SEGV", signal.SIGABRT: "ABRT"}[number]
    assert re.search(rf"process \d+\) was killed by signal {int(number)} \({name}\)", log_of(room))
    screen = run([ctl, "status", point]).stdout
    assert re.search(rf"restarts +1 daemon has gone on .* killed by signal {int(number)} \({name}\)", screen), screen


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


def test_what_is_open_stays_usable(room, mounts, point, killer, view_images, view_images_store):
    """L8"""
    mounts.mount(view_images_store, point, f"log={room}/log")
    assert_open_stays_usable(point, view_images, killer.kill)


def test_status_is_told_while_daemons_die(room, mounts, point, killer, small_store, augurctl):
    mounts.mount(small_store, point, f"log={room}/log")
    end, outcomes = threading.Event(), []

    def ask():
        while not end.is_set():
            outcomes.append(run([augurctl, "status", point]))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        for _ in range(10):
            killer.kill()
    finally:
        end.set()
        thread.join()
    assert outcomes and {done.returncode for done in outcomes} == {0}, [done.stderr for done in outcomes if done.returncode]


def test_three_deaths(room, mounts, point, small_store):
    """L9: readers get an error, the log says why, and the next mount clears the point."""
    mounts.mount(small_store, point, f"log={room}/log")
    assert read_hello(point) == HELLO
    (holder,) = holders(point)
    crash_until(lambda: not is_running(holder), lambda: daemons(mounts.program, point))
    assert not is_running(holder)
    assert errno_of(os.statvfs, point) in KILLED
    assert re.search(r"three daemons have died within ten seconds.* was killed by signal 11 \(SEGV\)", log_of(room)), log_of(room)
    wait_until(lambda: daemons(mounts.program, point) == [] and holders(point) == [], "all processes are gone")
    done = mounts.start(small_store, point)
    assert done.returncode == 0 and "cleared the mount point of an augurfs that had died" in done.stderr
    assert read_hello(point) == HELLO


@pytest.mark.skipif("AUGUR_SANITIZER" in os.environ, reason="a sanitizer wants to be loaded first")
def test_the_third_daemon_dies_before_it_serves(room, mounts, point, small_store, slow_crash):
    """L9: its thread that waits for an umount finds the connection ended, and says no more than that; the log says why all the same."""
    mounts.mount(small_store, point, f"log={room}/log", env=dict(os.environ, LD_PRELOAD=slow_crash))
    (holder,) = holders(point)

    def begins():
        """Daemons that open the store."""
        return [pid for pid in daemons(mounts.program, point) if "augur-signals" in thread_names(pid)]

    os.kill(mounts.pid(point), signal.SIGSEGV)
    crash_until(lambda: not is_running(holder), begins)
    assert re.search(r"three daemons have died within ten seconds.* was killed by signal 11 \(SEGV\)", log_of(room)), log_of(room)


def test_killed_as_soon_as_it_answers(room, mounts, point, small_store):
    """L9: a SIGKILL is not counted once the daemon takes requests, even if it is not done with its start."""
    mounts.mount(small_store, point)
    (holder,) = holders(point)
    for _ in range(20):
        statistics(point)
        kill_all(daemons(mounts.program, point))
    assert read_hello(point) == HELLO and holders(point) == [holder]


@pytest.mark.skipif("AUGUR_SANITIZER" in os.environ, reason="a sanitizer wants to be loaded first")
def test_a_death_at_once(room, mounts, point, small_store, slow_fork):
    """L9: a daemon that was dead and collected when its holder came to watch it is followed by another one."""
    pid = mounts.mount(small_store, point, env=dict(os.environ, LD_PRELOAD=slow_fork))
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: daemons(mounts.program, point) not in ([], [pid]), "the next one is there")
    kill_all(daemons(mounts.program, point))
    assert read_hello(point) == HELLO


def test_a_death_before_the_holder_knows_that_its_daemon_serves(room, mounts, point, small_store):
    """L3: the mount goes on, and the dead are collected."""
    mounts.points.append(point)
    process = subprocess.Popen([*mounts.words(small_store, point, [f"log={room}/log"]), "-f"], stderr=subprocess.PIPE)
    mounts.processes.append(process)
    wait_until(lambda: holders(point) == [process.pid], "the holder is there")
    os.kill(process.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: mount_rows(point) and len(daemons(mounts.program, point)) == 1, "it is mounted")
        pid = mounts.pid(point)
        os.kill(pid, signal.SIGUSR1)  # it does what a signal says once it has told the holder that it serves
        wait_until(lambda: "read_failures" in log_of(room), lambda: log_of(room))
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid), "the daemon is dead")
    finally:
        os.kill(process.pid, signal.SIGCONT)
    assert read_hello(point) == HELLO
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(lambda: children.read_text(encoding="ascii").split() == [str(pid) for pid in daemons(mounts.program, point)],
               children.read_text)


def test_without_restart(room, mounts, point, small_store):
    """L3: there is no holder, and the mount dies with its daemon."""
    pid = mounts.mount(small_store, point, "restart=no")
    assert holders(point) == []
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon is dead")
    wait_until(lambda: errno_of(os.statvfs, point) == 107, "the connection is down")


@looks_at_all_threads
def test_an_ordinary_user(room, mounts, point, small_store, users_may_mount):
    """L8: fusermount3 mounts once, and unmounts at the end."""
    os.chown(point, NOBODY, NOBODY)
    (room / "logs").mkdir()
    os.chown(room / "logs", NOBODY, NOBODY)
    mounts.mount(small_store, point, f"log={room}/logs/log", prefix=as_user())
    killer = Killer(mounts, room / "logs", point)
    for _ in range(2):
        pid = killer.kill()
        drop_caches()
        assert run([*as_user(), "cat", point / "hello.txt"]).stdout == HELLO
    assert threads_status(pid)["CapPrm"] == {"0" * 16} and threads_status(pid)["NoNewPrivs"] == {"1"}
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid) and holders(point) == [], "daemon and holder end")
    assert mount_rows(point) == []


def test_a_descriptor_that_was_handed_down(room, mounts, point, small_store):
    """L8, A3"""
    mounts.points.append(point)
    handed = HandedDown(point)
    name = f"/dev/fd/{handed.fd}"
    done = run([mounts.program, small_store, name, "-o", f"log={room}/log"], pass_fds=[handed.fd])
    os.close(handed.fd)
    assert done.returncode == 0, done.stderr
    assert read_hello(point) == HELLO
    Killer(mounts, room, point, name).kill()
    drop_caches()
    assert read_hello(point) == HELLO
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not daemons(mounts.program, name) and not holders(name), "daemon and holder end")


@looks_at_all_threads
def test_privileges_after_a_restart(room, mounts, point, small_store, killer):
    """L6: those of the first daemon; the holder keeps what it takes to start one."""
    mounts.mount(small_store, point, f"log={room}/log")
    pid = killer.kill()
    processes = family(pid)
    assert_holds(pid, [CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID])
    assert_holds(processes["augur-broker"], [CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SYS_ADMIN])
    (holder,) = holders(point)
    assert_holds(holder, [CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_SYS_PTRACE, CAP_SYS_ADMIN])
    assert not [target for target in open_files(holder).values() if target.startswith(str(room / "mount"))]
    assert os.readlink(f"/proc/{holder}/cwd") == "/" and os.getsid(holder) == holder
    assert os.readlink(f"/proc/{pid}/cwd") == "/" and os.getsid(pid) == pid


@looks_at_all_threads
def test_run_as_goes_on_as_that_user(room, mounts, point, small_store):
    """L6"""
    (room / "logs").mkdir()
    os.chown(room / "logs", NOBODY, NOBODY)
    mounts.mount(small_store, point, "allow_other", f"run-as={NOBODY}", f"log={room}/logs/log")
    pid = Killer(mounts, room / "logs", point).kill()
    assert_holds(pid, [])
    assert threads_status(pid)["Uid"] == {"\t".join([str(NOBODY)] * 4)}
    drop_caches()
    assert read_hello(point) == HELLO


def test_run_as_ends_by_a_signal_to_the_holder(room, mounts, point, small_store):
    """L2, L6: which is root's, and passes it on to the first daemon and to each later one."""
    (room / "logs").mkdir()
    os.chown(room / "logs", NOBODY, NOBODY)
    killer = Killer(mounts, room / "logs", point)
    for begin in (lambda pid: pid, lambda pid: killer.kill()):
        pid = begin(mounts.mount(small_store, point, "allow_other", f"run-as={NOBODY}", f"log={room}/logs/log"))
        (holder,) = holders(point)
        os.kill(holder, signal.SIGTERM)
        wait_until(lambda pid=pid, holder=holder: not is_running(pid) and not is_running(holder), "daemon and holder end")
        assert mount_rows(point) == []


def test_unmounted_while_the_daemon_is_dead(room, mounts, point, small_store):
    """L10: the mount goes at once, and all processes with it."""
    pid = mounts.mount(small_store, point)
    assert read_hello(point) == HELLO
    (holder,) = holders(point)
    os.kill(holder, signal.SIGSTOP)
    try:
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid), "the daemon is dead")
        # Not by umount(8), which looks at the mount before, and so waits for the next daemon.
        assert libc.umount2(os.fsencode(point), 0) == 0, os.strerror(ctypes.get_errno())
        assert mount_rows(point) == []
    finally:
        os.kill(holder, signal.SIGCONT)
    wait_until(lambda: not is_running(holder) and daemons(mounts.program, point) == [], "all processes end")


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGINT, signal.SIGUSR1]], ids=["one", "two"])
def test_a_signal_while_the_daemon_is_dead(room, mounts, point, small_store, numbers):
    """L10: the next daemon gets it, and unmounts. One that asks for the statistics takes nothing from it."""
    pid = mounts.mount(small_store, point)
    (holder,) = holders(point)
    os.kill(holder, signal.SIGSTOP)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon is dead")
    for number in numbers:
        os.kill(holder, number)
    os.kill(holder, signal.SIGCONT)
    wait_until(lambda: not is_running(holder), "the holder ends")
    assert mount_rows(point) == []


def test_the_holder_is_killed(room, mounts, point, small_store):
    """L11: the daemon in the background goes on alone; it still ends by a signal."""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    (holder,) = holders(point)
    os.kill(holder, signal.SIGKILL)
    wait_until(lambda: "the process augur-holder is gone" in log_of(room), "the daemon has seen it")
    drop_caches()
    assert read_hello(point) == HELLO
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert mount_rows(point) == []


def test_the_command_in_the_foreground_is_killed(room, mounts, point, small_store):
    """L11: it is the holder, and the mount ends with it."""
    process = mounts.foreground(small_store, point)
    pid = mounts.pid(point)
    process.kill()
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert mount_rows(point) == []


def test_killed_for_good(room, mounts, point, small_store):
    """L3: holder and daemon are killed, and the next daemon clears the point."""
    pid = mounts.mount(small_store, point)
    end_mount(pid, point, "kill")
    mounts.mount(small_store, point)
    assert read_hello(point) == HELLO


def test_the_retained_cache_is_found_again(room, mounts, point, killer, own_data, shared_memory, ctl):
    """L8: records in shared memory are there for the next daemon."""
    mounts.mount(own_data.store, point, "cache=shm", "memory=256M", f"log={room}/log")
    done = run([ctl, "warm", point])
    assert done.returncode == 0, done.stderr
    kept = Prediction(ctl, point).status()["gauges"]["retained_cache_bytes"]
    killer.kill()
    assert Prediction(ctl, point).status()["gauges"]["retained_cache_bytes"] == kept > 0
    drop_caches()
    for path in own_data.paths:
        own_data.check(point, path)


def assert_goes_on(before, now):
    """No counter and no bucket of a histogram has gone back."""
    for name, value in before["counters"].items():
        assert now["counters"][name] >= value, name
    for name, values in before["histograms"].items():
        assert now["histograms"][name]["count"] >= values["count"] and now["histograms"][name]["sum"] >= values["sum"], name


def test_statistics_go_on(room, mounts, point, killer, data, ahead):
    """L8: also those of what was pushed, and how long before its open. What the dead daemon had under way is gone."""
    mounts.mount(data.store, point, SMALL, f"log={room}/log")
    for number in range(3):
        ahead.assert_follows(data, data.shuffled(number), misses_max=1)
        before = ahead.status()
        assert before["counters"]["pushes"] > 0 and before["counters"]["orders_accepted"] == number + 1
        killer.kill()
        now = ahead.status()
        assert_goes_on(before, now)
        assert now["counters"]["restarts"] == before["counters"]["restarts"] + 1
        assert now["gauges"]["orders_queued"] == now["gauges"]["reads_in_flight"] == now["gauges"]["pushes_waiting"] == 0


def test_the_order_is_found_again(room, mounts, point, killer, data, ahead):
    """L8: from the reads of the rest of the epoch."""
    torch = pytest.importorskip("torch")
    mounts.mount(data.store, point, SMALL, f"log={room}/log")
    order = [data.paths[at] for at in torch.randperm(len(data.paths), generator=torch.Generator().manual_seed(42)).tolist()]
    begin = 0
    for found in (1, 2):
        before = ahead.counters()["pushes"]
        for path in order[begin:begin + len(order) // 2]:
            data.check(point, path)
            begin += 1
            if ahead.counters()["orders_found"] == found:
                break
            time.sleep(0.02)
        wait_until(lambda found=found: ahead.counters()["orders_found"] == found, lambda: f"found: {ahead.status()}")
        wait_until(lambda before=before: ahead.counters()["pushes"] > before, lambda: f"files are pushed: {ahead.status()}")
        killer.kill()
        drop_caches()


def test_decoded_images_are_found_again(room, mounts, point, killer, view_images_store, view_images, ctl):
    """L8: those that were written down; none is decoded again."""
    pytest.importorskip("numpy")
    from view_data import SPEC, ViewData, ViewPrediction, place_of

    images = ViewData(view_images_store, view_images, SPEC, place_of(SPEC))
    ahead = ViewPrediction(ctl, point, place_of(SPEC))
    mounts.mount(view_images_store, point, "cache=none", "push=off", f"decoded-cache={room}/decoded", f"log={room}/log")

    def all_kept():
        for path in images.shuffled(1):
            images.check(point, path)
        drop_caches()
        return ahead.gauges()["decoded_cache_files"] == len(images.paths)

    wait_until(all_kept, ahead.status)
    before = ahead.counters()
    killer.kill()
    drop_caches()
    for path in images.shuffled(2):
        images.check(point, path)
    now = ahead.counters()
    assert now["images_decoded"] == before["images_decoded"], now
    assert now["decoded_hits"] - before["decoded_hits"] >= len(images.paths), now
