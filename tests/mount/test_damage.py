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

from conftest import errno_of, needs_root
from odd_tree import MANY, MIB, content_of_size, odd_files

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
    _, errors = process.communicate(timeout=30)
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
    _, errors = process.communicate(timeout=30)
    assert shard.name.encode() in errors
