# SPDX-License-Identifier: Apache-2.0
"""augurpack create --decode of archives, which packs a SRC that is no store first: runs into one folder, and what a killed one leaves."""

import io
import struct
import subprocess
import tarfile
import time
import zlib

import pytest
from pack_support import PATIENCE_S, run, write

SPEC = "--decode=tar+shards=1"
ARCHIVES = ["_info.json", "all-000000.tar"]


def png():
    """Of one grey pixel."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")


@pytest.fixture
def source(tmp_path):
    for number in range(4):
        write(tmp_path / "source" / "class" / f"{number}.png", png())
    return tmp_path / "source"


@pytest.fixture
def piped(source):
    """The same as a tar."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.add(source, arcname=".")
    return buffer.getvalue()


@pytest.fixture
def packing(augurpack, piped, tmp_path):
    """A run that packs what comes through a pipe, of which one block has not come, and the folder that it writes into."""
    target = tmp_path / "target"
    packer = subprocess.Popen([augurpack, "create", SPEC, "-", target], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)  # fmt: skip
    try:
        packer.stdin.write(piped[:512])
        packer.stdin.flush()
        end = time.monotonic() + PATIENCE_S
        while packer.poll() is None and time.monotonic() < end and not list(target.glob(".augurpack-*/source/lock")):
            time.sleep(0.001)
        assert packer.poll() is None and list(target.glob(".augurpack-*/source/lock"))
        yield packer, target
    finally:
        packer.kill()
        packer.communicate()


def names(target):
    return sorted(path.name for path in target.iterdir())


def test_a_second_run_into_the_same_folder_is_refused(augurpack, source, piped, packing):
    """And takes nothing away from the first."""
    packer, target = packing
    second = run(augurpack, "create", SPEC, source, target, ok=(2,))
    assert "another writer is at work" in second.error and second.error.count("\n") == 1, second.error
    said, complaint = packer.communicate(piped[512:], timeout=PATIENCE_S)
    assert packer.returncode == 0, complaint
    assert b"wrote 1 archive" in said
    assert names(target) == ARCHIVES
    with tarfile.open(target / ARCHIVES[-1]) as tar:
        assert len([member for member in tar.getnames() if member.endswith(".png")]) == 4


def test_what_a_killed_run_left_is_cleared(augurpack, source, packing):
    packer, target = packing
    packer.kill()
    packer.communicate()
    assert names(target) != []
    run(augurpack, "create", SPEC, source, target)
    assert names(target) == ARCHIVES


def test_a_link_in_the_place_of_the_work_folder_is_not_followed(augurpack, source, tmp_path):
    write(tmp_path / "place" / "kept", b"mine")
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / ".augurpack-archives").symlink_to(tmp_path / "place")
    run(augurpack, "create", SPEC, source, tmp_path / "target", ok=(2,))
    assert names(tmp_path / "place") == ["kept"]
