# SPDX-License-Identifier: Apache-2.0
"""What reads return: SEMANTICS.md, Reading, of a store that is as it was."""

import errno
import fcntl
import hashlib
import mmap
import os
import random
import re
import shutil
import signal
import subprocess
import threading

import pytest

from kernel_caches import drop_caches, unless_caches_are_dropped
from odd_tree import MIB, content_of_size, odd_files
from patience import PATIENCE_S
from program_runs import run
from skips import needs_root
from system_calls import errno_of

pytestmark = needs_root

SIZES = [0, 1, 4095, 4096, 4097, 110_000, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB + 7]


@pytest.mark.parametrize("size", SIZES)
def test_reads_at_any_place(mounted, size):
    """R1, R4: short only at the end, nothing past it; warm, cold and past the page cache (R5, O_DIRECT)."""
    name, data = content_of_size(size)
    choice = random.Random(size)
    places = [(0, size), (0, size + 1), (size, 1), (size + 1, 10), (max(size - 1, 0), 10), (size + 10 * MIB, 5), (2**62, 5)]
    places += [(choice.randrange(size + 2), choice.randrange(2 * MIB)) for _ in range(20)]
    for flags in (os.O_RDONLY, os.O_RDONLY | os.O_DIRECT):
        fd = os.open(mounted / name, flags)
        try:
            drop_caches()
            buffer = mmap.mmap(-1, 4 * MIB)  # page-aligned
            for offset, count in places:
                if flags & os.O_DIRECT:
                    got = os.preadv(fd, [memoryview(buffer)[:count]], offset) if count else 0
                    assert buffer[:got] == data[offset:offset + count], (offset, count)
                else:
                    assert os.pread(fd, count, offset) == data[offset:offset + count], (offset, count)
        finally:
            os.close(fd)


def test_whole_files_through_python(mounted):
    for name, data in odd_files().items():
        drop_caches()
        with open(os.path.join(os.fsencode(mounted), name), "rb") as file:
            assert file.read() == data
            file.seek(-min(10, len(data)), os.SEEK_END)
            assert file.read() == data[-10:]
            assert file.read() == b""


def test_mmap(mounted):
    """R5"""
    for size in (4097, 2 * MIB, 3 * MIB + 7):
        name, data = content_of_size(size)
        drop_caches()
        fd = os.open(mounted / name, os.O_RDONLY)
        try:
            for flags, protection in ((mmap.MAP_SHARED, mmap.PROT_READ), (mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)):
                with mmap.mmap(fd, 0, flags, protection) as mapping:
                    assert mapping[:] == data
                    if protection & mmap.PROT_WRITE:
                        mapping[0:4] = b"mine"
            assert os.pread(fd, 10, 0) == data[:10]
        finally:
            os.close(fd)


def test_sendfile_splice_and_copy(room, mounted):
    """R5"""
    name, data = content_of_size(3 * MIB + 7)
    fd = os.open(mounted / name, os.O_RDONLY)
    out = os.open(room / "copy", os.O_RDWR | os.O_CREAT)
    try:
        drop_caches()
        sent = 0
        while sent < len(data):
            sent += os.sendfile(out, fd, sent, len(data) - sent)
        assert os.pread(out, len(data) + 1, 0) == data
        drop_caches()
        reader, writer = os.pipe()
        try:
            assert os.splice(fd, writer, 40_000, offset_src=MIB - 100) == 40_000
            assert os.read(reader, 40_000) == data[MIB - 100:][:40_000]
        finally:
            os.close(reader)
            os.close(writer)
    finally:
        os.close(fd)
        os.close(out)
    shutil.copy(mounted / name, room / "copy")
    assert (room / "copy").read_bytes() == data
    assert run(["cp", "-a", mounted / name, room / "copy2"]).returncode == 0
    assert (room / "copy2").read_bytes() == data


@pytest.mark.parametrize("to", ["disk", "tmpfs"])
def test_copy_file_range(room, mounted, to):
    """R5: the kernel refuses, and what falls back on copying has all bytes."""
    name, data = content_of_size(MIB + 1)
    folder = room / "to"
    folder.mkdir()
    if to == "tmpfs":
        assert run(["mount", "-t", "tmpfs", "none", folder]).returncode == 0
    try:
        with open(mounted / name, "rb") as source, open(folder / "copy", "wb") as out:
            assert errno_of(os.copy_file_range, source.fileno(), out.fileno(), 1000, 5, 0) == errno.EXDEV
            assert os.fstat(out.fileno()).st_size == 0
        assert run(["cp", mounted / name, folder / "copy"]).returncode == 0
        assert (folder / "copy").read_bytes() == data
    finally:
        if to == "tmpfs":
            subprocess.run(["umount", "-l", folder], check=True)


def test_holes_and_data(mounted):
    name, data = content_of_size(MIB + 1)
    fd = os.open(mounted / name, os.O_RDONLY)
    try:
        assert os.lseek(fd, 5, os.SEEK_DATA) == 5
        assert os.lseek(fd, 5, os.SEEK_HOLE) == len(data)
        assert errno_of(os.lseek, fd, len(data), os.SEEK_DATA) == errno.ENXIO
    finally:
        os.close(fd)


def test_unknown_ioctl(mounted):
    with open(mounted / "plain.JPEG", "rb") as file:
        assert errno_of(fcntl.ioctl, file, 0x5401) == errno.ENOTTY  # TCGETS


@pytest.mark.parametrize("same_file", [True, False])
def test_many_readers_at_once(mounted, same_file):
    """R6"""
    contents = {name: data for name, data in odd_files().items() if len(data) > 4000}
    digests = {name: hashlib.sha256(data).digest() for name, data in contents.items()}
    wrong = []

    def read(seed):
        choice = random.Random(seed)
        names = [b"size-%d" % (3 * MIB + 7)] if same_file else list(contents)
        for _ in range(30):
            name = choice.choice(names)
            with open(os.path.join(os.fsencode(mounted), name), "rb", buffering=0) as file:
                if choice.random() < 0.3:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                digest = hashlib.sha256()
                while piece := file.read(choice.randrange(1, 300_000)):
                    digest.update(piece)
            if digest.digest() != digests[name]:
                wrong.append(name)

    drop_caches()
    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_block_wanted_by_many_is_read_once(room, mounts, point, store):
    """R6"""

    def read_by_many():
        for shard in store.glob("shard-*"):
            with open(shard, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        process = mounts.foreground(store, point)
        readers = [subprocess.Popen(["cat", point / "plain.JPEG"], stdout=subprocess.DEVNULL) for _ in range(16)]
        assert [reader.wait(PATIENCE_S) for reader in readers] == [0] * 16
        process.send_signal(signal.SIGUSR1)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert re.search(rb"statistics: disk_reads 1 ", errors), errors

    unless_caches_are_dropped(read_by_many)  # a late reader would read it again


def test_engine_is_named_in_the_log(room, mounts, point, store):
    """R7"""
    for engine, words in (("uring", "io_uring"), ("pread", "pread")):
        mounts.start(store, point, f"io={engine}", f"log={room}/{engine}")
        assert f"reading by {words}" in (room / engine).read_text()
        assert run(["umount", point]).returncode == 0
