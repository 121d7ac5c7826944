# SPDX-License-Identifier: Apache-2.0
"""A store on a file system that a server keeps (NFS, SMB, Ceph, Lustre), which may lose its handles, stop, or go away: SEMANTICS.md,
R15. The kernel of a test machine may have none of these, so a FUSE file system of ours plays them."""

import concurrent.futures
import errno
import os
import shutil
import subprocess

import pytest

from far_folder import FarFolder
from kernel_caches import drop_caches
from mounts import is_running
from patience import PATIENCE_S, wait_until
from prefetching import DataSet, Prediction, log_of
from program_runs import run
from skips import needs_root
from stores import pack
from system_calls import errno_of

pytestmark = needs_root


@pytest.fixture(scope="module")
def data(augurpack, session_room):
    folder = session_room / "shared"
    folder.mkdir()
    return DataSet(augurpack, folder, file_count=400, bytes_max=200_000)


@pytest.fixture
def served(room, data):
    """The folder that the server has, with a copy of the store that a test may damage."""
    folder = room / "served"
    folder.mkdir()
    shutil.copytree(data.store, folder / "store")
    return folder


@pytest.fixture
def far(room, served, far_folder):
    """Makes a FarFolder of it, at room/far."""
    (room / "far").mkdir()
    started = []

    def start(*options):
        started.append(FarFolder(far_folder, served, room / "far", *options))
        started[-1].start()
        return started[-1]

    try:
        yield start
    finally:
        for one in started:
            one.end()


@pytest.fixture
def mount_far(room, mounts, point):
    """Mounts the store there; returns the daemon's process id."""

    def mount(*options):
        return mounts.mount(room / "far" / "store", point, f"log={room / 'log'}", *options)

    return mount


def check_all(data, point, paths, threads=16):
    """Many readers at once; each byte must be right."""
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda path: data.check(point, path), paths))


def shard_of(served):
    shard, = served.glob("store/shard-*")
    return shard


@pytest.mark.parametrize("options", [["io=uring"], ["io=pread"]])
@pytest.mark.parametrize("server", [[], ["--no-direct"], ["--no-locks"]], ids=lambda words: " ".join(words) or "direct")
def test_the_bytes_are_right(data, point, far, mount_far, options, server):
    far("--delay-ms", "1", *server)
    mount_far(*options)
    check_all(data, point, data.shuffled(1))


def test_short_reads_are_continued(data, point, far, mount_far):
    """With io_uring. The rest of a short pread(2) the kernel itself reads, through the page cache, where the server must not be short."""
    server = far()
    mount_far("io=uring")
    server.tell("short")
    check_all(data, point, data.paths)
    assert server.counters()["reads"] > len(data.paths) / 2


@pytest.mark.parametrize("how", ["stale", "broken"])
@pytest.mark.parametrize("options", [["predict=off", "io=uring"], ["predict=off", "io=pread"], []], ids=" ".join)
def test_lost_handles_are_opened_anew_once(room, data, point, far, mount_far, how, options):
    server = far()
    mount_far("memory=32M", *options)  # less than the files
    for path in data.paths[:3]:
        data.check(point, path)
    for turn in (1, 2):
        server.tell(how)
        drop_caches()
        server.counters()
        check_all(data, point, data.shuffled(turn))
        if options:
            assert server.counters()["opens"] == 2, "the shard once, and the index once for its lock"
    assert log_of(room).count("both were opened anew") == 1, "of many like it the first"
    assert "EIO" not in log_of(room) and "Stale" not in log_of(room)


def test_the_index_is_opened_anew(room, data, point, far, mount_far):
    """Before anything of it but its first part was read."""
    server = far()
    mount_far("predict=off")
    server.tell("stale")
    drop_caches()
    assert sorted(os.listdir(point)) == sorted({path.split("/")[0] for path in data.paths})
    check_all(data, point, data.paths)


def test_a_server_that_is_started_anew(room, data, point, far, mount_far):
    """ENOTCONN until it is mounted again; then all is well without another mount of the store."""
    server = far()
    pid = mount_far("predict=off")
    for path in data.paths[:3]:
        data.check(point, path)
    server.crash()
    drop_caches()
    assert errno_of((point / data.paths[-1]).read_bytes) == errno.EIO
    assert "cannot be opened anew" in log_of(room) and "Transport endpoint is not connected" in log_of(room)
    server.end()
    assert errno_of((point / data.paths[-2]).read_bytes) == errno.EIO
    assert "No such file or directory" in log_of(room)
    server.start()
    check_all(data, point, data.paths)
    assert is_running(pid)


def test_another_shard_is_refused_by_name(room, data, point, served, far, mount_far):
    server = far()
    mount_far("predict=off")
    data.check(point, data.paths[0])
    shard = shard_of(served)
    kept = shard.rename(served / "kept")
    server.tell("stale")
    drop_caches()
    for make, cause in ((lambda: None, "the shard is missing"), (lambda: shard.write_bytes(b"x" * 1000), "the shard has 1000 bytes, the index says"),
                        (lambda: shard.write_bytes(bytes(kept.stat().st_size)), "shard header: wrong magic")):
        make()
        assert errno_of((point / data.paths[-1]).read_bytes) == errno.EIO
        text = log_of(room)
        assert cause in text and shard.name in text and "copy it back from where the store came from" in text
    kept.rename(shard)
    check_all(data, point, data.paths)


def test_another_store_is_refused_by_name(room, data, point, served, far, mount_far, augurpack):
    server = far()
    mount_far("predict=off")
    data.check(point, data.paths[0])
    (room / "other").mkdir()
    (room / "other" / "file").write_bytes(b"other")
    (served / "store").rename(served / "kept")
    pack(augurpack, room / "other", served / "store")
    server.tell("stale")
    drop_caches()
    assert errno_of((point / data.paths[-1]).read_bytes) == errno.EIO
    assert "index-00000001: another index has its name now: mount the store anew" in log_of(room)
    shutil.rmtree(served / "store")
    assert errno_of((point / data.paths[-2]).read_bytes) == errno.EIO
    assert "No such file or directory" in log_of(room)
    (served / "kept").rename(served / "store")
    check_all(data, point, data.paths)


def test_readers_wait_for_a_server_that_does_not_answer(data, point, far, mount_far):
    server = far()
    mount_far("predict=off")
    server.tell("pause")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(data.check, point, path) for path in data.paths[-8:]]
        try:
            done, _ = concurrent.futures.wait(readers, timeout=1)
            assert not done
        finally:
            server.tell("resume")
        for reader in readers:
            reader.result()


@pytest.mark.parametrize("end", ["truncated", "gone"])
@pytest.mark.parametrize("options", [["io=uring"], ["io=pread"], ["cache=shm"]], ids=" ".join)
def test_no_signal_ends_the_daemon(data, point, served, far, mount_far, end, options, shared_memory):
    """No part of a store is read through a mapping, whose pages could not be got any more (SIGBUS)."""
    server = far()
    pid = mount_far(*options)
    data.check(point, data.paths[0])
    if end == "truncated":
        for path in (served / "store").iterdir():
            os.truncate(path, min(path.stat().st_size, 70_000))
    else:
        server.crash()
    drop_caches()
    failures = 0
    for path in data.paths:
        try:
            data.check(point, path)
        except OSError as failure:
            assert failure.errno == errno.EIO
            failures += 1
    assert failures > len(data.paths) / 2
    assert is_running(pid)
    data.check(point, data.paths[0])  # what memory has


def test_a_far_disk_has_64_reads_in_flight(room, point, far, mount_far, augurctl, augurpack, served):
    """60 ms a read and 110 KB each are 117 MB/s with 64 in flight. It is found by what is measured: nothing is told of the server."""
    many = DataSet(augurpack, room, file_count=3000, bytes_max=40_000, seed=2)
    shutil.rmtree(served / "store")
    many.store.rename(served / "store")
    server = far("--delay-ms", "60")  # long beside what 64 reads take a busy machine to begin
    mount_far("memory=256M")
    order = many.shuffled(1)
    Prediction(augurctl, point).hint(order)
    for path in order:
        many.check(point, path)
    counters = server.counters()
    assert counters["in_flight_max"] >= 64, counters


def test_a_store_without_locks(room, data, far, augurpack, served, point, mount_far):
    """What only reads needs no lock; a packer says what is missing, and leaves nothing."""
    far("--no-locks")
    mount_far()
    data.check(point, data.paths[0])
    assert run([augurpack, "verify", "--quiet", room / "far" / "store"]).returncode == 0
    (room / "new").mkdir()
    (room / "new" / "file").write_bytes(b"new")
    before = sorted(path.name for path in (served / "store").iterdir())
    assert "lock" in before  # of the packer that made it
    for command, store in (("create", "far/made"), ("append", "far/store")):
        done = run([augurpack, command, "--quiet", room / "new", room / store])
        assert done.returncode == 2 and "flock" in done.stderr and "copy the folder" in done.stderr, done
    done = run([augurpack, "gc", room / "far" / "store"])
    assert done.returncode == 2 and "flock" in done.stderr, done
    assert sorted(path.name for path in (served / "store").iterdir()) == before
    data.check(point, data.paths[1])


def test_packing_on_a_shared_file_system(room, data, far, augurpack, mounts, point, mount_far):
    far()
    tree = room / "tree"
    shutil.copytree(_mounted_tree(data, mounts, room), tree)
    made = room / "far" / "made"
    assert run([augurpack, "create", "--quiet", tree, made]).returncode == 0
    assert run([augurpack, "verify", "--quiet", made]).returncode == 0
    mounts.mount(made, point)
    check_all(data, point, data.paths)


def test_a_packer_whose_file_system_goes_away_says_so(room, data, served, far, augurpack, mounts):
    server = far()
    archive = subprocess.run(["tar", "cf", "-", "-C", _mounted_tree(data, mounts, room), "."], capture_output=True, check=True).stdout
    packer = subprocess.Popen([augurpack, "create", "--quiet", "-", room / "far" / "made"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    try:
        packer.stdin.write(archive[:len(archive) // 2])
        packer.stdin.flush()
        wait_until(lambda: list(served.glob("made/shard-*")), "the packer has a shard")
        server.crash()
        _, errors = packer.communicate(archive[len(archive) // 2:], timeout=PATIENCE_S)
    finally:
        packer.kill()
        packer.wait()
    assert packer.returncode == 2 and errors.startswith(b"augurpack: "), (packer.returncode, errors)
    assert not (served / "made" / "manifest").exists()


def _mounted_tree(data, mounts, room):
    (room / "source").mkdir()
    mounts.mount(data.store, room / "source")
    return room / "source"
