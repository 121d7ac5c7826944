# SPDX-License-Identifier: Apache-2.0
"""How a mount begins and ends: SEMANTICS.md, Life."""

import contextlib
import errno
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from mounts import daemons, holders, is_running, mount_rows
from patience import PATIENCE_S, wait_until
from processes import thread_names
from program_runs import assert_refused, complaint_of, run
from skips import needs_root, passes_signals_on
from stores import HELLO, read_hello
from system_calls import errno_of

pytestmark = needs_root


# ---- L1: augurfs returns when the mount answers


def test_returns_when_the_mount_answers(room, mounts, point, small_store):
    for _ in range(10):
        done = mounts.start(small_store, point)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert read_hello(point) == HELLO
        assert run(["umount", point]).returncode == 0


def test_is_mounted_read_only_and_with_permissions(room, mounts, point, small_store):
    """A1, A3"""
    mounts.mount(small_store, point)
    (row,) = mount_rows(point)
    assert row["type"] == "fuse.augurfs" and row["source"] == str(small_store)
    assert {"ro", "nosuid", "nodev"} <= set(row["options"]) and "noexec" not in row["options"]
    assert "default_permissions" in row["super_options"] and "allow_other" not in row["super_options"]


def test_noexec(room, mounts, point, small_store):
    mounts.mount(small_store, point, "noexec")
    assert "noexec" in mount_rows(point)[0]["options"]


def test_closes_the_streams_of_the_caller(room, mounts, point, small_store):
    """Who reads a pipe that the command was given sees its end, also of a pipe that is none of the three."""
    reader, writer = os.pipe()
    try:
        # start() reads stdout and stderr to their end.
        done = mounts.start(small_store, point, pass_fds=[writer])
        os.close(writer)
        assert done.returncode == 0
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)
    assert read_hello(point) == HELLO
    folder = pathlib.Path(f"/proc/{mounts.pid(point)}/fd")
    assert [os.readlink(folder / str(number)) for number in range(2)] == ["/dev/null"] * 2
    # Without a system log, errors go to a file of the daemon's.
    errors = os.readlink(folder / "2")
    assert errors == "/dev/null" or errors.startswith("/run/augurfs/")


def test_keeps_neither_working_folder_nor_terminal(room, mounts, point, small_store):
    pid = mounts.mount(small_store, point, cwd=room)
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert os.getsid(pid) == pid


def test_relative_paths(room, mounts, point, own_store):
    (room / "elsewhere").mkdir()
    done = mounts.start("../store", "../elsewhere/../mount/", "log=../log", cwd=room / "elsewhere")
    mounts.points.append(point)
    assert (done.returncode, done.stderr) == (0, "")
    assert read_hello(point) == HELLO
    assert "mounted" in (room / "log").read_text()
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not daemons(mounts.program, "../elsewhere/../mount/"), "the daemon ends")


@pytest.mark.parametrize("name", [b"with a blank", b"line\nfeed", b"back\\slash", b"tab\tand,comma#", b"\xff\xfe raw"])
def test_odd_names_of_mount_point_and_store(room, mounts, small_store, name):
    odd_point = room / os.fsdecode(name + b" mount")
    odd_point.mkdir()
    odd_store = shutil.copytree(small_store, room / os.fsdecode(name + b" store"))
    for _ in range(2):
        pid = mounts.mount(odd_store, odd_point)
        assert read_hello(odd_point) == HELLO
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not is_running(pid), "the daemon ends")
        assert mount_rows(odd_point) == []


def test_mount_point_behind_a_symbolic_link(room, mounts, point, small_store):
    (room / "alias").symlink_to("mount")
    done = mounts.start(small_store, room / "alias")
    mounts.points.append(point)
    assert (done.returncode, done.stderr) == (0, "")
    assert read_hello(point) == HELLO
    assert_refused(mounts.start(small_store, room / "alias"), str(point), "mounted here already")


def test_log_file(room, mounts, point, small_store):
    """The log says what is mounted and how."""
    mounts.mount(small_store, point, f"log={room}/log", "threads=3", "memory=100M", "io=pread")
    text = (room / "log").read_text()
    for line in (rf"{point}: mounted {small_store} generation 1: 2 files", "pread", r"memory budget 100\.0 MiB", "threads: 3"):
        assert re.search(line, text), text


def test_says_when_there_is_less_memory_than_asked(room, mounts, point, small_store):
    done = mounts.start(small_store, point, f"log={room}/log", "memory=900T")
    assert done.returncode == 0
    for text in done.stderr, (room / "log").read_text():
        assert re.search(r"memory: .* instead of 900\.0 TiB, because .* has only", text), text


def test_statistics_on_request(room, mounts, point, small_store):
    process = mounts.foreground(small_store, point)
    assert read_hello(point) == HELLO
    process.send_signal(signal.SIGUSR1)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE_S)
    text = errors.decode()
    assert process.returncode == 0
    assert re.search(r"statistics: reads 1 requests", text), text
    assert re.search(rf"statistics: read_bytes {len(HELLO)} bytes", text), text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_statistics_before_the_end(room, mounts, point, small_store, number):
    """L7: of signals that come together, the one that asks for statistics is heard, too."""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    os.kill(pid, signal.SIGSTOP)
    os.kill(pid, number)
    os.kill(pid, signal.SIGUSR1)
    os.kill(pid, signal.SIGCONT)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert "statistics: reads " in (room / "log").read_text()
    assert mount_rows(point) == []


@pytest.mark.parametrize("size, kilobytes", [(None, "1024"), ("256K", "256")])
def test_raises_the_readahead_as_root(room, mounts, point, small_store, size, kilobytes):
    mounts.mount(small_store, point, *([f"read-ahead={size}"] if size else []))
    device = mount_rows(point)[0]["device"]
    wait_until(lambda: pathlib.Path(f"/sys/class/bdi/{device}/read_ahead_kb").read_text().strip() == kilobytes, f"{kilobytes} kB")


def test_runs_with_as_many_threads_as_asked(room, mounts, point, small_store):
    for threads in (1, 5):
        pid = mounts.mount(small_store, point, f"threads={threads}")
        wait_until(lambda pid=pid, threads=threads: thread_names(pid).count("augur-fuse") == threads, f"{threads} threads")
        assert read_hello(point) == HELLO
        assert run(["umount", point]).returncode == 0
        wait_until(lambda: not is_running(pid), "the daemon ends")


# ---- L2: how it ends


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_foreground_ends_by_signal(room, mounts, point, small_store, number):
    process = mounts.foreground(small_store, point)
    assert read_hello(point) == HELLO
    process.send_signal(number)
    assert process.wait(PATIENCE_S) == 0
    assert mount_rows(point) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_daemon_ends_by_signal(room, mounts, point, small_store, number):
    pid = mounts.mount(small_store, point)
    os.kill(pid, number)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert mount_rows(point) == []
    assert list(point.iterdir()) == []


@pytest.mark.parametrize("words", [pytest.param([], marks=passes_signals_on), ["-f"]])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ends_by_signal_while_it_waits_for_a_server(room, mounts, point, number, words):
    """Nothing listens at port 1. The command waits for the process that it has begun, and ends as that does."""
    command = mounts.words("http://127.0.0.1:1/store", point, ["no-sign-request", "io-timeout=600"])
    process = subprocess.Popen([*command, *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert "no answer to 3 requests" in process.stderr.readline()
    finally:
        complaint = complaint_of(process, number, lambda: (*holders(point), *daemons(mounts.program, point)))
    assert (process.returncode, complaint) == (2, f"augurfs: stopped by {number.name}: there is no mount yet, and nothing is left\n")
    assert mount_rows(point) == []


@pytest.mark.parametrize("words", [["umount"], ["umount", "-l"], ["fusermount3", "-u"]])
def test_ends_when_unmounted(room, mounts, point, small_store, words):
    process = mounts.foreground(small_store, point)
    assert read_hello(point) == HELLO
    assert run([*words, point]).returncode == 0
    assert process.wait(PATIENCE_S) == 0


def test_mount_in_use_is_detached(room, mounts, point, small_store):
    pid = mounts.mount(small_store, point)
    fd = os.open(point / "folder" / "image.JPEG", os.O_RDONLY)
    try:
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not is_running(pid), "the daemon ends")
        assert mount_rows(point) == []
        assert errno_of(lambda: os.read(fd, 10)) == errno.ENOTCONN
    finally:
        with contextlib.suppress(OSError):  # close(2) closes, and fails too
            os.close(fd)


def test_ends_with_many_reads_under_way(room, mounts, point, augurpack):
    """Readers at full speed when the signal comes: the daemon ends, nobody hangs."""
    tree = room / "tree"
    tree.mkdir()
    for number in range(200):
        (tree / str(number)).write_bytes(os.urandom(50_000))
    assert run([augurpack, "create", "--quiet", tree, room / "store"]).returncode == 0
    for _ in range(3):
        process = mounts.foreground(room / "store", point)
        readers = [subprocess.Popen(["sh", "-c", f"while cat {point}/* >/dev/null 2>&1; do :; done"]) for _ in range(4)]
        try:
            wait_until(lambda: all(reader.poll() is None for reader in readers), "the readers run")
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 0
            for reader in readers:
                reader.wait(PATIENCE_S)
        finally:
            for reader in readers:
                if reader.poll() is None:
                    reader.kill()
                    reader.wait()


def test_leaves_alone_what_was_mounted_over_it(room, mounts, point, small_store):
    pid = mounts.mount(small_store, point)
    assert run(["mount", "-t", "tmpfs", "none", point]).returncode == 0
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert mount_rows(point)[-1]["type"] == "tmpfs"


# ---- L3: a daemon that was killed


def test_clears_the_mount_of_a_killed_daemon(room, mounts, point, small_store):
    for look_before in (False, True):  # with and without what the kernel remembers of the root
        pid = mounts.mount(small_store, point, "restart=no")
        if look_before:
            os.listdir(point)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid), "the daemon is dead")
        # A request that is under way while the kernel takes the connection down gets ECONNABORTED, each later one ENOTCONN.
        wait_until(lambda: errno_of(lambda: os.statvfs(point)) == errno.ENOTCONN, "the connection is down")
        done = mounts.start(small_store, point)
        assert (done.returncode, done.stdout) == (0, "")
        assert f"{point}: cleared the mount point of an augurfs that had died" in done.stderr
        assert read_hello(point) == HELLO
        assert len(mount_rows(point)) == 1
        assert run(["umount", point]).returncode == 0
        wait_until(lambda: not daemons(mounts.program, point), "the daemon ends")


# ---- L4 and refusals


def test_second_mount_on_the_same_point_is_refused(room, mounts, point, small_store):
    mounts.mount(small_store, point)
    for spelling in (point, f"{point}/", f"{point}/../mount", f"{point}/."):
        assert_refused(mounts.start(small_store, spelling), str(point), "mounted here already", str(small_store))
    assert len(mount_rows(point)) == 1
    assert read_hello(point) == HELLO


def test_same_store_many_times(room, mounts, small_store):
    points = [room / f"mount-{number}" for number in range(5)]
    for one in points:
        one.mkdir()
        mounts.mount(small_store, one)
    assert [read_hello(one) for one in points] == [HELLO] * 5


def test_other_file_systems_can_be_mounted_upon(room, mounts, point, small_store):
    mounts.points.append(point)
    assert run(["mount", "-t", "tmpfs", "none", point]).returncode == 0
    mounts.mount(small_store, point)
    assert read_hello(point) == HELLO


@pytest.mark.parametrize("bad, words", [
    ("missing", ["No such file", "mkdir"]),
    ("missing/deeper", ["No such file", "mkdir"]),
    ("file", ["not a folder"]),
    ("file/below", ["Not a directory"]),
    ("dangling", ["No such file"]),
    ("loop", ["symbolic links"]),
    ("", []),
])
def test_bad_mount_points(room, mounts, small_store, bad, words):
    (room / "file").write_text("")
    (room / "dangling").symlink_to("nowhere")
    (room / "loop").symlink_to("loop")
    done = run([mounts.program, small_store, f"{room}/{bad}" if bad else ""])
    assert_refused(done, *words)


@pytest.mark.parametrize("bad, words", [("missing", ["No such file"]), ("file", []), ("empty", ["store"])])
def test_bad_stores(room, mounts, point, bad, words):
    (room / "file").write_text("")
    (room / "empty").mkdir()
    assert_refused(mounts.start(room / bad, point), str(room / bad), *words)
    assert mount_rows(point) == []


def test_log_that_cannot_be_written(room, mounts, point, small_store, own_store):
    assert_refused(mounts.start(small_store, point, f"log={room}/store/manifest/log"), f"{room}/store/manifest/log")
    assert mount_rows(point) == []


def test_fails_in_the_foreground_as_in_the_background(room, mounts, point, small_store):
    assert_refused(run([mounts.program, "-f", small_store, room / "missing"]), "No such file")
