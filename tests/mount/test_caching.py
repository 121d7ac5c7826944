# SPDX-License-Identifier: Apache-2.0
"""What the kernel and the daemon keep: SEMANTICS.md, Caching."""

import multiprocessing
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys

import pytest
from kernel_caches import drop_caches, unless_caches_are_dropped
from mounts import statistics
from odd_tree import content_of_size
from patience import PATIENCE_S, wait_until
from processes import anonymous_bytes
from program_runs import run
from skips import measures_memory, needs_root

pytestmark = needs_root

MANY = 150_000
SHUFFLED = """
import sys, torch
root, many = sys.argv[1], int(sys.argv[2])
for epoch in range(2):
    order = torch.randperm(many, generator=torch.Generator().manual_seed(epoch)).tolist()
    for number in order[:3000]:
        with open(f"{root}/n{number // 1000:08}/{number % 1000:05}.JPEG", "rb", buffering=0) as file:
            assert len(file.read()) == 64
print("read", flush=True)
sys.stdin.read()  # a process that has ended is followed no more
"""


def read_whole(path):
    """As C programs do. Python's open() asks whether the file is a terminal, until Python 3.13, which is a request."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, os.fstat(fd).st_size + 1)
    finally:
        os.close(fd)


def test_hot_files_make_no_request(room, mounts, point, store):
    """C2, C3: with the daemon stopped, everything that was seen once can be had again."""
    pid = mounts.mount(store, point)
    name, data = content_of_size(110_000)

    def look():
        missing = not os.path.exists(point / "no such name")
        return read_whole(point / name), missing, os.listdir(point), os.readlink(point / "link"), os.stat(point / "raw").st_mode

    def look_twice():
        first = look()
        assert first[0] == data
        os.kill(pid, signal.SIGSTOP)
        # In a process of its own, which can be killed should it wait for the daemon.
        child = multiprocessing.get_context("fork").Process(target=lambda: os._exit(0 if look() == first else 1))
        try:
            child.start()
            child.join(30)
            assert child.exitcode == 0
        finally:
            os.kill(pid, signal.SIGCONT)
            child.kill()
            child.join()

    unless_caches_are_dropped(look_twice)


def test_observed_opens(room, mounts, point, tree, store):
    """C3: with observe=open an open is a request, and the pages are kept all the same."""
    pid = mounts.mount(store, point, "observe=open", f"log={room}/log")

    def read_again():
        assert (point / "plain.JPEG").read_bytes() == (tree / "plain.JPEG").read_bytes()
        before = statistics(point)["counters"]["reads"]
        for _ in range(2):
            assert (point / "plain.JPEG").read_bytes() == (tree / "plain.JPEG").read_bytes()
        assert statistics(point)["counters"]["reads"] == before

    unless_caches_are_dropped(read_again)
    os.kill(pid, signal.SIGSTOP)
    try:
        # A thread of it may answer until all are stopped.
        wait_until(lambda: all("\nState:\tT" in task.read_text() for task in pathlib.Path(f"/proc/{pid}/task").glob("*/status")),
                   "the daemon is stopped")
        reader = subprocess.Popen(["cat", point / "plain.JPEG"], stdout=subprocess.DEVNULL)
        wchan = pathlib.Path(f"/proc/{reader.pid}/wchan")
        wait_until(lambda: wchan.read_text() == "request_wait_answer", "the open asks the daemon")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert reader.wait(PATIENCE_S) == 0


def test_generation_stays(room, mounts, point, augurpack, own_store):
    """C1, L4: the store grows under the mount; the next mount sees it, or an older generation on demand."""
    mounts.mount(own_store, point)
    more = room / "more"
    more.mkdir()
    (more / "new.txt").write_text("new")
    before = sorted(os.listdir(point))
    done = run([augurpack, "append", "--quiet", more, own_store])
    assert done.returncode == 0, done.stderr
    drop_caches()
    assert sorted(os.listdir(point)) == before and not (point / "new.txt").exists()
    assert (point / "hello.txt").read_text() == "hello, world\n"
    for name, options, expected in (("newest", [], True), ("first", ["generation=1"], False)):
        (room / name).mkdir()
        mounts.mount(own_store, room / name, *options)
        assert (room / name / "new.txt").exists() == expected
        assert (room / name / "hello.txt").read_text() == "hello, world\n"
    done = run([augurpack, "gc", own_store])
    assert done.returncode == 0, done.stderr
    drop_caches()
    assert (point / "folder" / "image.JPEG").read_bytes() == bytes(range(256)) * 500


@measures_memory
def test_memory_stays_within_the_budget(room, mounts, point, tree, store):
    """C4: RssAnon and RssShmem, after reads of everything by many."""
    pid = mounts.mount(store, point, "memory=32M")
    readers = [subprocess.Popen(["sh", "-c", f"for i in 1 2 3; do find {point} -type f -exec cat {{}} + >/dev/null; done"]) for _ in range(4)]
    while any(reader.poll() is None for reader in readers):
        drop_caches()
        assert anonymous_bytes(pid) <= 32 << 20
    assert [reader.wait() for reader in readers] == [0] * 4


@pytest.fixture(scope="module")
def many_files(session_room, augurpack):
    """A store of many small files, and large ones beside them, more than the daemon will keep."""
    tree = session_room / "many"
    (tree / "large").mkdir(parents=True)
    for number in range(64):
        (tree / "large" / f"{number}.bin").write_bytes(os.urandom(4 << 20))
    for number in range(MANY // 1000):
        folder = tree / "train" / f"n{number:08}"
        folder.mkdir(parents=True)
        (folder / "00000.JPEG").write_bytes(b"x" * 64)
        for link in range(1, 1000):
            os.link(folder / "00000.JPEG", folder / f"{link:05}.JPEG")
    store = session_room / "many.augur"
    done = run([augurpack, "create", "--quiet", tree, store])
    shutil.rmtree(tree)
    assert done.returncode == 0, done.stderr
    yield store
    shutil.rmtree(store)


@measures_memory
@pytest.mark.parametrize("memory,known", [(64, False), (256, True)])
def test_memory_of_orders_is_in_the_budget(room, mounts, point, many_files, memory, known):
    """C4: all that is kept is full, and many files are read in a shuffled order: worked out where the budget has room for it."""
    log = room / "log"
    pid = mounts.mount(many_files, point, f"memory={memory}M", f"log={log}", says="" if known else "orders are predicted for smaller folders only")
    for _ in range(2):
        for path in sorted((point / "large").iterdir()):
            path.read_bytes()
        drop_caches()
    used = []

    def is_found():
        used.append(anonymous_bytes(pid))
        return any("the order is known" in line and "of train" in line for line in log.read_text().splitlines())

    with subprocess.Popen([sys.executable, "-c", SHUFFLED, point / "train", str(MANY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        try:
            while not select.select([reader.stdout], [], [], 0.01)[0]:
                used.append(anonymous_bytes(pid))
            assert reader.stdout.readline() == b"read\n"
            if known:
                wait_until(is_found, log.read_text)
        finally:
            reader.stdin.close()
    assert reader.returncode == 0
    assert is_found() == known, log.read_text()
    assert max(used) <= memory << 20
