# SPDX-License-Identifier: Apache-2.0
"""augurpack adopt: zips whose members are stored."""

import io
import json
import os
import random
import struct
import zipfile

import pytest
from adopt_support import cause_of, files_of, refused
from archive_support import need
from container_files import PNG, jpeg
from pack_support import assert_store_equals, reader, run, store_entries, store_tree, write

RNG = random.Random(5)
FILES = {"d/a.jpg": jpeg(1), "d/empty": b"", "b": RNG.randbytes((2 << 20) + 5), "é.png": PNG, "last": b"x"}


def zip_of(files, out=None, **options):
    out = io.BytesIO() if out is None else out
    with zipfile.ZipFile(out, "w", **options) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


class Pipe(io.RawIOBase):
    """Cannot seek, so that zipfile writes sizes and checksums behind the bytes."""

    def __init__(self):
        super().__init__()
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += data
        return len(data)

    def getvalue(self):
        return bytes(self.data)


@pytest.mark.parametrize("out", [io.BytesIO, Pipe])
def test_members_of_zipfile(augurpack, tmp_path, out):
    path = write(tmp_path / "x.zip", zip_of(FILES, out()))
    summary = json.loads(run(augurpack, "adopt", "--json", path, tmp_path / "store").stdout)
    assert summary["stored_bytes"] == 0
    assert files_of(tmp_path / "store") == {name.encode(): data for name, data in FILES.items()}
    run(augurpack, "verify", tmp_path / "store")
    with reader.Store(tmp_path / "store") as store:
        entries = store_entries(store)
        assert entries[b"d/a.jpg"].offset == path.read_bytes().index(jpeg(1))
    run(augurpack, "create", path, tmp_path / "packed")  # the same tree, modes and times and all
    assert store_tree(tmp_path / "store")[0] == store_tree(tmp_path / "packed")[0]


def test_numbers_of_64_bits(augurpack, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive, archive.open("big", "w", force_zip64=True) as member:
        member.write(FILES["b"])
    run(augurpack, "adopt", tmp_path / "x.zip", tmp_path / "store")
    assert files_of(tmp_path / "store") == {b"big": FILES["b"]}


def test_a_tree_of_info_zip(augurpack, tmp_path):
    """Folders, modes, times and links."""
    need("zip")
    top = tmp_path / "top"
    for name, data in FILES.items():
        write(top / name, data, mtime_ns=1_600_000_001 * 10**9, mode=0o640)
    os.symlink("d/a.jpg", top / "link")
    os.utime(top / "link", (1_600_000_003,) * 2, follow_symlinks=False)
    os.utime(top / "d", (1_500_000_001,) * 2)
    run("zip", "-0", "-q", "-r", "-y", tmp_path / "x.zip", ".", cwd=top)
    run(augurpack, "adopt", tmp_path / "x.zip", tmp_path / "store")
    assert_store_equals(tmp_path / "store", top, ignore_root=True)


def test_classes(augurpack, tmp_path):
    path = write(tmp_path / "x.zip", zip_of({"0.jpg": jpeg(0), "0.cls": b"3", "1.json": b'{"label": 4}', "1.jpg": jpeg(1)}))
    run(augurpack, "adopt", "--as=imagefolder", path, tmp_path / "store")
    assert files_of(tmp_path / "store") == {b"000003/0.jpg": jpeg(0), b"000004/1.jpg": jpeg(1)}


def test_a_zip_without_members(augurpack, tmp_path):
    run(augurpack, "adopt", write(tmp_path / "x.zip", zip_of({})), tmp_path / "store")
    assert files_of(tmp_path / "store") == {}


GOOD = zip_of({"a": b"first bytes", "b": b"second", "c": b"third"})
HEADERS = [at for at in range(len(GOOD)) if GOOD.startswith(b"PK\3\4", at)]
ENTRIES = [at for at in range(len(GOOD)) if GOOD.startswith(b"PK\1\2", at)]


def with_bytes(at, data):
    return GOOD[:at] + data + GOOD[at + len(data) :]


def number(value, size="<I"):
    return struct.pack(size, value)


@pytest.mark.parametrize("data, cause", [
    (zip_of({"a": b"text " * 99}, compression=zipfile.ZIP_DEFLATED), "a: is compressed, its bytes are not stored as they are"),
    (GOOD[:-30], "has no end record"),
    (GOOD[: HEADERS[1]], "has no end record"),
    (GOOD * 2, "another zip lies before that"),
    (GOOD[: HEADERS[1]] + GOOD[HEADERS[2] :], "does not fit the file"),
    (with_bytes(HEADERS[1] + 31, b"?"), "b: its bytes do not match its checksum"),
    (with_bytes(HEADERS[1], b"?"), "b: the header in front of it"),
    (with_bytes(HEADERS[1] + 30, b"x"), "b: the header in front of it"),
    (with_bytes(HEADERS[1] + 8, number(8, "<H")), "b: the header in front of it"),
    (with_bytes(HEADERS[1] + 14, number(7)), "b: the header in front of it"),
    (with_bytes(HEADERS[1] + 22, number(7)), "b: the header in front of it"),
    (with_bytes(HEADERS[1] + 26, number(60_000, "<H")), "ends within a member"),
    (with_bytes(HEADERS[1] + 28, number(60_000, "<H")), "ends within a member"),
    (with_bytes(ENTRIES[1], b"?"), "the zip's directory is damaged"),
    (with_bytes(ENTRIES[1] + 8, number(1, "<H")), "b: is encrypted"),
    (with_bytes(ENTRIES[1] + 10, number(12, "<H")), "b: is compressed"),
    (with_bytes(ENTRIES[1] + 16, number(7)), "b: the header in front of it"),
    (with_bytes(ENTRIES[1] + 20, number(7)), "b: is stored, and has two sizes"),
    (with_bytes(ENTRIES[1] + 42, number(0)), "b: lies within the member before it"),
    (with_bytes(ENTRIES[1] + 42, number(HEADERS[1] + 1)), "b: the header in front of it"),
    (with_bytes(ENTRIES[1] + 42, number(1 << 31)), "ends within a member"),
    (with_bytes(ENTRIES[1] + 46, b"/"), "the header in front of it"),
    (with_bytes(len(GOOD) - 14, number(2, "<H") * 2), "has 3 members, and its end says another number"),
    (zip_of({"../a": b"1"}), "has a '..' in it"),
], ids=cause_of)  # fmt: skip
def test_bad_files(augurpack, tmp_path, data, cause):
    assert cause in refused(augurpack, write(tmp_path / "x.zip", data))


def test_a_name_that_comes_twice(augurpack, tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a", b"1")
        archive.writestr("a", b"2")
    assert "'a' comes twice" in run(augurpack, "adopt", tmp_path / "x.zip", tmp_path / "store", ok=(2,)).error
    run(augurpack, "adopt", "--on-duplicate=last", tmp_path / "x.zip", tmp_path / "store")
    assert files_of(tmp_path / "store") == {b"a": b"2"}
