# SPDX-License-Identifier: Apache-2.0
"""Stores that are not as they were packed: SEMANTICS.md, R2 and R3."""

import errno
import mmap
import os
import pathlib
import re
import shutil
import signal

import pytest

from odd_tree import MANY, MIB, content_of_size, odd_files
from patience import PATIENCE_S
from skips import needs_root
from stores import pack
from system_calls import errno_of

pytestmark = needs_root


def shard_of(store):
    (shard,) = [path for path in store.glob("shard-*") if not path.name.endswith(".catalogue")]
    return shard


def damage(store, data, at):
    """Flips a bit of the record that has these bytes."""
    shard = shard_of(store)
    content = shard.read_bytes()
    begin = content.index(data)
    with open(shard, "r+b") as file:
        file.seek(begin + at)
        byte = file.read(1)[0]
        file.seek(begin + at)
        file.write(bytes([byte ^ 1]))
        os.fsync(file.fileno())


@pytest.mark.parametrize("engine", ["uring", "pread"])
def test_damaged_record(room, mounts, point, tree, store, engine):
    """R2"""
    copy = pathlib.Path(shutil.copytree(store, room / "copy"))
    contents = odd_files()
    damage(copy, contents[b"size-4097"], 4000)
    process = mounts.foreground(copy, point, f"io={engine}")
    for _ in range(2):
        assert errno_of((point / "size-4097").read_bytes) == errno.EIO
        assert (point / "size-4097").stat().st_size == 4097
    for name, data in contents.items():
        if name != b"size-4097":
            with open(os.path.join(os.fsencode(point), name), "rb") as file:
                assert file.read() == data, name
    damage(copy, contents[b"size-4097"][:4000], 4000)  # the same bit back
    assert (point / "size-4097").read_bytes() == contents[b"size-4097"]
    process.send_signal(signal.SIGUSR1)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE_S)
    text = errors.decode(errors="replace")
    line = next(line for line in text.splitlines() if "checksum" in line)
    for word in (str(copy), shard_of(copy).name, "size-4097"):
        assert word in line, line
    (count,) = re.findall(r"statistics: corrupt_blocks (\d+) ", text)
    assert int(count) >= 2
    assert int(re.search(r"statistics: read_failures (\d+) ", text)[1]) >= 2


def test_damaged_block_of_a_large_file(room, mounts, point, store):
    """R2: the other blocks of the file stay readable."""
    copy = pathlib.Path(shutil.copytree(store, room / "copy"))
    name, data = content_of_size(3 * MIB + 7)
    damage(copy, data, MIB + 500_000)
    mounts.mount(copy, point, "read-ahead=128K")
    fd = os.open(point / name, os.O_RDONLY | os.O_DIRECT)
    try:
        buffer = mmap.mmap(-1, MIB)
        for block in (0, 2, 3):
            got = os.preadv(fd, [buffer], block * MIB)
            assert buffer[:got] == data[block * MIB:][:MIB]
        assert errno_of(os.preadv, fd, [buffer], MIB) == errno.EIO
    finally:
        os.close(fd)
    assert os.stat(point / name).st_size == len(data)


@pytest.mark.parametrize("wrong", ["missing", "shorter", "longer"])
def test_shard_that_is_not_as_it_was(room, mounts, point, store, wrong):
    """R3: the files of the shard fail, by name in the log; the tree stays."""
    copy = pathlib.Path(shutil.copytree(store, room / "copy"))
    shard = shard_of(copy)
    if wrong == "missing":
        shard.unlink()
    else:
        os.truncate(shard, shard.stat().st_size + (1 if wrong == "longer" else -1))
    process = mounts.foreground(copy, point)
    assert errno_of((point / "plain.JPEG").read_bytes) == errno.EIO
    assert (point / "empty").read_bytes() == b""
    assert os.readlink(point / "link") == "plain.JPEG"
    assert len(os.listdir(point / "many")) == MANY
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert shard.name.encode() in errors


def test_index_that_is_changed_or_made_shorter(room, mounts, point, store):
    """R11: what was used stays as it was, what was not gives EIO, and the mount goes on."""
    copy = pathlib.Path(shutil.copytree(store, room / "copy"))
    (index,) = copy.glob("index-*")
    mounts.mount(copy, point)
    before = os.stat(point / "plain.JPEG")
    content = (point / "plain.JPEG").read_bytes()
    with open(index, "r+b") as file:  # every byte of the body, the names and the entries
        body = index.stat().st_size - 65536
        file.seek(65536)
        file.write(bytes(body))
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n")
    after = os.stat(point / "plain.JPEG")
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert (point / "plain.JPEG").read_bytes() == content
    os.truncate(index, 65536)
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n")
    assert (point / "plain.JPEG").read_bytes() == content
    assert (point / ".augur" / "stats.json").read_bytes()


def test_index_made_shorter_before_it_was_used(room, mounts, point, augurpack):
    """R11"""
    tree = room / "wide"
    for folder in range(3):
        (tree / f"{folder}").mkdir(parents=True)
        for number in range(1500):
            (tree / f"{folder}" / f"{number:05}").write_bytes(b"x")
    copy = pack(augurpack, tree, room / "wide.augur")
    (index,) = copy.glob("index-*")
    process = mounts.foreground(copy, point, "predict=off")
    os.truncate(index, 65536)
    assert errno_of(os.listdir, point / "2") == errno.EIO
    assert (point / ".augur" / "stats.json").read_bytes()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
