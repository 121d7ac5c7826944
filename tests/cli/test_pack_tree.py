# SPDX-License-Identifier: Apache-2.0
"""augurpack create and append from folders: what comes out is what went in."""

import json
import os
import random
import shutil
import socket
import stat
import subprocess
import threading
import time

import pytest
from pack_support import PATIENCE_S, assert_store_equals, folder_tree, reader, run, store_entries, store_tree, write

needs_user = pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")


@pytest.fixture
def source(tmp_path):
    """A tree with everything that a store keeps."""
    top = tmp_path / "source"
    rng = random.Random(3)
    write(top / "n01" / "a.JPEG", rng.randbytes(110_000), mtime_ns=1_234_567_890_123_456_789, mode=0o640)
    write(top / "n01" / "b.JPEG", rng.randbytes(1), mtime_ns=-1_500_000_000, mode=0o4755)
    write(top / "n01-x" / "c", rng.randbytes(1 << 20), mode=0)
    write(top / "n01-x" / "d", rng.randbytes((1 << 20) + 1))
    write(top / "large", rng.randbytes((8 << 20) + 4097))
    write(top / "larger", rng.randbytes(21 << 20))
    write(top / "empty", b"")
    write(os.fsencode(top) + b"/raw-\xff\xfe\x01\n \\name/\xc3(", b"raw")
    write(top / "été" / "猫.png", b"utf-8")
    write(top / ("n" * 255), b"longest name")
    (top / "empty folder").mkdir(mode=0o2751)
    os.symlink("n01/a.JPEG", top / "link")
    os.symlink("../nowhere/" + "x" * 3000, top / "broken")
    os.symlink(b"\xff", top / "raw link")
    os.symlink(".", top / "loop")
    os.link(top / "n01" / "a.JPEG", top / "hard")
    os.utime(top / "link", ns=(5, 7_000_000_001), follow_symlinks=False)
    os.utime(top / "n01", ns=(5, 1_000_000_000_000_000_001))
    return top


def create(augurpack, source, store, *options, **more):
    return run(augurpack, "create", *options, source, store, **more)


def test_a_store_equals_its_source(augurpack, source, tmp_path):
    summary = json.loads(create(augurpack, source, tmp_path / "store", "--json").stdout)
    assert_store_equals(tmp_path / "store", source)
    tree = folder_tree(source).values()
    kinds = [kind for kind, *_ in tree]
    assert summary["files"] == kinds.count(stat.S_IFREG)
    assert summary["directories"] == kinds.count(stat.S_IFDIR)
    assert summary["symlinks"] == kinds.count(stat.S_IFLNK)
    assert summary["bytes"] == sum(d for k, _, _, d in tree if k == stat.S_IFREG)
    assert summary["duplicates"] == 1  # the hard link
    assert summary["errors"] == summary["left_out"] == 0


def test_extract_gives_the_source_back(augurpack, source, tmp_path):
    create(augurpack, source, tmp_path / "store")
    run(augurpack, "verify", tmp_path / "store")
    run(augurpack, "extract", "--special-modes", tmp_path / "store", tmp_path / "out")
    assert folder_tree(tmp_path / "out") == folder_tree(source)
    for name, (kind, *_) in folder_tree(source).items():
        if kind == stat.S_IFREG:
            with open(os.fsencode(source) + b"/" + name, "rb") as a, open(os.fsencode(tmp_path / "out") + b"/" + name, "rb") as b:
                assert a.read() == b.read()


def test_records_lie_in_path_order_and_identical_files_once(augurpack, tmp_path):
    top = tmp_path / "source"
    for i in (2, 10, 1, 0):
        write(top / f"d{i}" / "x", b"%d" % i * 100)
        write(top / f"d{i}" / "same", b"the same bytes")
    write(top / "d1-" / "x", b"after d1/x by the order of paths")
    summary = json.loads(create(augurpack, top, tmp_path / "store", "--json").stdout)
    assert summary["duplicates"] == 3
    with reader.Store(tmp_path / "store") as store:
        entries = store_entries(store)
        order = sorted((n for n, e in entries.items() if e.is_file and not n.endswith(b"same")), key=lambda n: entries[n].offset)
        assert order == [b"d0/x", b"d1/x", b"d1-/x", b"d10/x", b"d2/x"]
        assert len({entries[b"d%d/same" % i].offset for i in (0, 1, 2, 10)}) == 1


def test_shards_are_closed_at_their_size(augurpack, source, tmp_path):
    create(augurpack, source, tmp_path / "store", "--shard-size", "1M")
    shards = [p for p in (tmp_path / "store").iterdir() if p.name.startswith("shard-")]
    assert len(shards) >= 4
    assert_store_equals(tmp_path / "store", source)


def test_what_is_no_file_is_left_out_by_name(augurpack, tmp_path):
    top = tmp_path / "s"
    write(top / "a", b"1")
    os.mkfifo(top / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(top / "socket"))
        done = create(augurpack, top, tmp_path / "store", "--json")
    assert f"augurpack: {top}/fifo: a fifo, socket or device: left out" in done.error
    summary = json.loads(done.stdout)
    assert (summary["files"], summary["left_out"]) == (1, 2)
    assert_store_equals(tmp_path / "store", top)


def test_a_store_below_its_source_leaves_itself_out(augurpack, tmp_path):
    top = tmp_path / "s"
    write(top / "a", b"1")
    done = create(augurpack, top, top / "store")
    assert f"{top}/store: the store itself: left out" in done.error
    assert set(store_tree(top / "store")[0]) == {b"", b"a"}
    assert create(augurpack, top / "store", top / "store", "--force", ok=(2,)).error == (
        f"augurpack: {top}/store: is the store itself\n"
    )


def test_include_and_exclude(augurpack, tmp_path):
    top = tmp_path / "s"
    for name in ("a/1.jpg", "a/2.txt", "b/3.txt", "c/tmp/4.jpg", "c/5.jpg"):
        write(top / name, name.encode())
    create(augurpack, top, tmp_path / "one", "--include", "*.jpg", "--exclude", "tmp")
    # Folders in which nothing was packed are left out.
    assert set(store_tree(tmp_path / "one")[0]) == {b"", b"a", b"a/1.jpg", b"c", b"c/5.jpg"}
    create(augurpack, top, tmp_path / "two", "--exclude", "a/*.txt")
    assert set(store_tree(tmp_path / "two")[0]) == {
        b"", b"a", b"a/1.jpg", b"b", b"b/3.txt", b"c", b"c/tmp", b"c/tmp/4.jpg", b"c/5.jpg"}  # fmt: skip
    assert "--include '[': '[' without ']'" in create(augurpack, top, tmp_path / "three", "--include", "[", ok=(2,)).error
    assert not (tmp_path / "three").exists()


def test_a_source_that_is_not_there(augurpack, tmp_path):
    done = create(augurpack, tmp_path / "nothing", tmp_path / "store", ok=(2,))
    assert done.error == f"augurpack: {tmp_path}/nothing: No such file or directory: check the path\n"
    assert not (tmp_path / "store").exists()


def test_an_existing_store_is_refused_and_force_replaces_its_tree(augurpack, tmp_path):
    write(tmp_path / "one" / "a", b"1")
    write(tmp_path / "two" / "b", b"2")
    create(augurpack, tmp_path / "one", tmp_path / "store")
    done = create(augurpack, tmp_path / "two", tmp_path / "store", ok=(2,))
    assert "--force" in done.error and "append" in done.error
    assert_store_equals(tmp_path / "store", tmp_path / "one")
    create(augurpack, tmp_path / "two", tmp_path / "store", "--force")
    assert_store_equals(tmp_path / "store", tmp_path / "two")
    create(augurpack, tmp_path / "one", tmp_path / "new", "--force")  # with nothing to replace
    assert_store_equals(tmp_path / "new", tmp_path / "one")


def test_append_adds_and_replaces_when_told_to(augurpack, tmp_path):
    write(tmp_path / "one" / "d" / "a", b"old")
    write(tmp_path / "one" / "d" / "keep", b"keep")
    write(tmp_path / "two" / "d" / "b", b"new")
    write(tmp_path / "three" / "d" / "a", b"replaced")
    run(augurpack, "append", tmp_path / "one", tmp_path / "store", ok=(2,))  # no store yet
    create(augurpack, tmp_path / "one", tmp_path / "store")
    run(augurpack, "append", tmp_path / "two", tmp_path / "store")
    assert store_tree(tmp_path / "store")[1] == {b"d/a": b"old", b"d/keep": b"keep", b"d/b": b"new"}
    refused = run(augurpack, "append", tmp_path / "three", tmp_path / "store", ok=(2,))
    assert "d/a" in refused.error
    assert store_tree(tmp_path / "store")[1][b"d/a"] == b"old"
    run(augurpack, "append", "--replace", tmp_path / "three", tmp_path / "store")
    assert store_tree(tmp_path / "store")[1] == {b"d/a": b"replaced", b"d/keep": b"keep", b"d/b": b"new"}
    run(augurpack, "verify", tmp_path / "store")
    run(augurpack, "gc", tmp_path / "store")
    assert store_tree(tmp_path / "store")[1][b"d/a"] == b"replaced"


def test_one_writer_at_a_time(augurpack, tmp_path):
    write(tmp_path / "one" / "a", b"1")
    reading, writing = os.pipe()
    with subprocess.Popen([augurpack, "create", "-", tmp_path / "store"], stdin=reading, stderr=subprocess.PIPE) as first:
        os.close(reading)
        try:
            while not (tmp_path / "store" / "lock").exists():
                assert first.poll() is None
            end, done = time.monotonic() + PATIENCE_S, None
            while done is None or str(first.pid) not in done.error:  # until it holds the lock, and has written so into it
                assert time.monotonic() < end, done.error
                done = run(augurpack, "create", "--force", tmp_path / "one", tmp_path / "store", ok=(0, 2))
            assert done.returncode == 2
        finally:
            os.close(writing)
            first.kill()


@needs_user
def test_unreadable_files_follow_the_policy_as_a_user(augurpack, tmp_path):
    check_unreadable(augurpack, tmp_path, [])


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_unreadable_files_follow_the_policy(augurpack, tmp_path):
    os.chown(tmp_path, 65534, 65534)
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    check_unreadable(augurpack, tmp_path, ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"])


def check_unreadable(augurpack, tmp_path, prefix):
    top = tmp_path / "s"
    write(top / "a", b"1")
    write(top / "locked" / "x", b"2")
    write(top / "secret", b"3")
    (top / "locked").chmod(0)
    (top / "secret").chmod(0)
    if prefix:  # owned by root: nobody may not even stat below
        assert os.geteuid() == 0
    done = run(*prefix, augurpack, "create", top, tmp_path / "store", ok=(2,))
    assert f"{top}/locked: Permission denied: --on-error=skip leaves such files out" in done.error
    assert not (tmp_path / "store" / "manifest").exists()
    done = run(*prefix, augurpack, "create", "--on-error=skip", "--json", top, tmp_path / "store", ok=(1,))
    summary = json.loads(done.stdout)
    assert summary["errors"] == 2
    assert sorted(summary["error_texts"]) == [f"{top}/locked: Permission denied", f"{top}/secret: Permission denied"]
    assert set(store_tree(tmp_path / "store")[0]) == {b"", b"a", b"locked"}


def test_a_file_that_changes_while_it_is_read_is_never_packed_half(augurpack, tmp_path):
    """A file is appended to all the time: every store has either none of it, named, or one of its whole states."""
    top = tmp_path / "s"
    line = b"0123456789abcdef" * 4096
    for i in range(200):
        write(top / f"{i:03}", b"%d" % i * 20000)
    growing = write(top / "zz", line * 200)
    stop = threading.Event()

    def grow():
        with open(growing, "ab", buffering=0) as file:
            while not stop.is_set():
                file.write(line)
                if file.tell() > 100 << 20:
                    file.truncate(len(line) * 200)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        seen = set()
        for i in range(6):
            done = create(augurpack, top, tmp_path / f"{i}", "--on-error=skip", ok=(0, 1))
            seen.add(done.returncode)
            contents = store_tree(tmp_path / f"{i}")[1]
            assert len(contents) == (201 if done.returncode == 0 else 200)
            if done.returncode == 1:
                assert f"{growing}: changed while it was read: left out" in done.error
            else:
                assert contents[b"zz"] == line * (len(contents[b"zz"]) // len(line))
        done = create(augurpack, top, tmp_path / "stop", ok=(0, 2))
        assert done.returncode == 0 or f"augurpack: {growing}: changed while it was read: what was packed stays" in done.error
        assert 1 in seen, "it never changed while it was read: the test tests nothing"
    finally:
        stop.set()
        writer.join()


def test_a_sparse_file_over_4_gib(augurpack, tmp_path):
    top = tmp_path / "s"
    top.mkdir()
    size = (4 << 30) + 12345
    with open(top / "huge", "wb") as file:
        file.write(b"begin")
        file.seek(size - 3)
        file.write(b"end")
    free = os.statvfs(tmp_path)
    if free.f_bavail * free.f_frsize < 2 * size:
        pytest.skip("needs 9 GB")
    try:
        create(augurpack, top, tmp_path / "store")
        with reader.Store(tmp_path / "store") as store:
            entry = store_entries(store)[b"huge"]
            assert entry.size == size
            assert store.read(entry, 0, 7) == b"begin\0\0"
            assert store.read(entry, size - 5, 5) == b"\0\0end"
            assert store.read(entry, (4 << 30) - 8, 16) == b"\0" * 16
    finally:
        shutil.rmtree(tmp_path / "store", ignore_errors=True)  # pytest keeps the folders of three runs


def test_quiet_says_nothing(augurpack, source, tmp_path):
    done = create(augurpack, source, tmp_path / "store", "--quiet")
    assert (done.stdout, done.error) == (b"", "")
