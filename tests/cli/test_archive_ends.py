# SPDX-License-Identifier: Apache-2.0
"""Where archives end: what stands behind, before or in place of the end, and what GNU tar, bsdtar, unzip and zipfile make of it."""

import bz2
import gzip
import io
import json
import lzma
import random
import shutil
import subprocess
import tarfile
import zipfile

import pytest
from archive_support import need, unpacked
from pack_support import reader, run, store_tree, write
from test_adopt import tar_of
from test_pack_archive import add, make_zip, packed_by

ONE, TWO = {"a": b"a" * 700, "b": b"bb"}, {"c": b"ccc", "d/e": b"e" * 3000}
BOTH = {name.encode(): data for name, data in (ONE | TWO).items()}


def refused(augurpack, path, store, *words, commands=("create", "adopt"), options=()):
    """The commands end with exit 2, say so with these words, and leave no store."""
    for command in commands:
        done = run(augurpack, command, *options, path, store, ok=(2,))
        for word in (str(path), *words):
            assert word in done.error
        assert not (store / "manifest").exists()
        shutil.rmtree(store, ignore_errors=True)


def taken(augurpack, path, tmp_path, files, *options, commands=("create", "adopt")):
    for command in commands:
        store = tmp_path / f"{path.name}-{command}"
        run(augurpack, command, *options, path, store)
        assert store_tree(store)[1] == files
        reader.full_check(store)


def test_tars_behind_each_other(augurpack, tmp_path):
    path = write(tmp_path / "joined.tar", tar_of(ONE) + tar_of(TWO))
    refused(augurpack, path, tmp_path / "store", "something follows the tar's end mark at byte 3584", "--ignore-zeros", "head -c 3584")
    assert unpacked("tar", path, tmp_path / "gnu", "--ignore-zeros") == (0, BOTH)
    assert unpacked("bsdtar", path, tmp_path / "bsd", "--options", "read_concatenated_archives") == (0, BOTH)
    taken(augurpack, path, tmp_path, BOTH, "--ignore-zeros")
    for name, data in (("gz", gzip.compress(path.read_bytes())), ("parts.gz", gzip.compress(tar_of(ONE)) + gzip.compress(tar_of(TWO))),
                       ("xz", lzma.compress(path.read_bytes()))):  # fmt: skip
        packed = write(tmp_path / name, data)
        refused(augurpack, packed, tmp_path / "store", "something follows the tar's end mark", commands=("create",))
        taken(augurpack, packed, tmp_path, BOTH, "--ignore-zeros", commands=("create",))


def test_the_part_that_head_gives_is_whole(augurpack, tmp_path):
    data = tar_of(ONE) + tar_of(TWO)
    taken(augurpack, write(tmp_path / "part.tar", data[:3584]), tmp_path, {n.encode(): d for n, d in ONE.items()})


def test_ignored_zeros_with_resume_and_append(augurpack, tmp_path):
    path = write(tmp_path / "joined.tar", tar_of(ONE) + tar_of(TWO))
    run(augurpack, "create", path, tmp_path / "store", ok=(2,))
    done = run(augurpack, "create", "--json", "--resume", "--ignore-zeros", path, tmp_path / "store")
    assert b'"resumed":2' in done.stdout
    assert store_tree(tmp_path / "store")[1] == BOTH
    run(augurpack, "append", write(tmp_path / "f.tar", tar_of({"f": b"f"}) * 2), tmp_path / "store", ok=(2,))
    run(augurpack, "append", "--replace", "--ignore-zeros", tmp_path / "f.tar", tmp_path / "store")
    assert store_tree(tmp_path / "store")[1] == BOTH | {b"f": b"f"}


@pytest.mark.parametrize("blocks", [1, 2, 40])
def test_a_part_that_is_lost_behind_zeros(augurpack, tmp_path, blocks):
    data = bytearray(tar_of(ONE | TWO))
    at = data.index(b"c\0")  # the header of a member in the middle
    data[at : at + blocks * 512] = bytes(blocks * 512)
    path = write(tmp_path / "holed.tar", data if blocks < 40 else data + tar_of(TWO))
    refused(augurpack, path, tmp_path / "store", "something follows the tar's end mark")


def test_a_file_of_zeros_and_an_empty_tar(augurpack, tmp_path):
    run("tar", "-cf", tmp_path / "empty.tar", "-T", "/dev/null")
    assert (tmp_path / "empty.tar").read_bytes() == bytes(10240)
    taken(augurpack, tmp_path / "empty.tar", tmp_path, {})
    for size in (1443, 20480, 1 << 20, 9 << 20):
        path = write(tmp_path / "zeros.tar", bytes(size))
        refused(augurpack, path, tmp_path / "store", "only zeros")
        if size % 512 == 0:
            run(augurpack, "create", "--force", "--ignore-zeros", path, tmp_path / "ignored")
            assert store_tree(tmp_path / "ignored")[1] == {}
    path = write(tmp_path / "unfinished.tar", tar_of(ONE) + bytes(3 << 20))
    refused(augurpack, path, tmp_path / "store", "from byte 2560 on there are only zeros")
    taken(augurpack, path, tmp_path, {n.encode(): d for n, d in ONE.items()}, "--ignore-zeros")


def test_padding_of_any_record_is_padding(augurpack, tmp_path):
    top = tmp_path / "top"
    for name, data in ONE.items():
        write(top / name, data)
    for factor in ("1", "3", "20", "2048"):
        path = tmp_path / f"{factor}.tar"
        run("tar", "-C", top, "-b", factor, "-cf", path, *ONE)
        taken(augurpack, path, tmp_path, {n.encode(): d for n, d in ONE.items()})


def test_a_tar_without_an_end_mark(augurpack, tmp_path):
    """GNU tar takes it, and so it takes a tar that was cut off between two members, without a word."""
    data = tar_of(ONE | TWO)
    files = {n.encode(): d for n, d in ONE.items()}
    path = write(tmp_path / "cut.tar", data[:2560])
    assert unpacked("tar", path, tmp_path / "gnu") == (0, files)
    refused(augurpack, path, tmp_path / "store", "no end mark and may be cut off at byte 2560", "--ignore-zeros")
    taken(augurpack, path, tmp_path, files, "--ignore-zeros")
    taken(augurpack, write(tmp_path / "lone.tar", data[:2560] + bytes(512)), tmp_path, files)


def test_ends_of_tars_within_tars(augurpack, tmp_path):
    inner = tar_of(ONE) + tar_of(TWO)
    path = write(tmp_path / "outer.tar", tar_of({"x.tar": inner, "z": b"z"}))
    refused(augurpack, path, tmp_path / "store", "outer.tar: x.tar: something follows", commands=("adopt",), options=("--nested",))
    run(augurpack, "adopt", "--nested", "--ignore-zeros", path, tmp_path / "store")
    assert store_tree(tmp_path / "store")[1] == {b"x/" + n: d for n, d in BOTH.items()} | {b"z": b"z"}


@pytest.mark.parametrize("packer", ["gzip", "bzip2", "xz", "zstd", "lz4"])
def test_a_bomb_ends_at_the_end_mark(augurpack, tmp_path, packer):
    """A few KB that unpack to 64 GiB of zeros behind a small tar. Unpacking them would take longer than the test has."""
    need(packer)
    head = packed_by(packer, "-qc")(tar_of(ONE))
    zeros = packed_by(packer, "-qc")(bytes(64 << 20))
    path = write(tmp_path / "bomb", head + zeros * 1024)
    done = run(augurpack, "create", path, tmp_path / "store", ok=(2,))
    assert "only zeros" in done.error and not (tmp_path / "store").exists()


@pytest.mark.parametrize("packer", ["gzip", "bzip2", "xz", "lzma", "zstd", "lz4"])
def test_what_follows_compressed_data(augurpack, tmp_path, packer):
    need("zstd", "lz4")
    compress = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress,
                "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE)}.get(packer) or packed_by(packer, "-qc")  # fmt: skip
    rng = random.Random(3)
    files = {"a": rng.randbytes(300_000), "b": b"text " * 1000}
    good = compress(tar_of(files))
    wanted = {n.encode(): d for n, d in files.items()}
    taken(augurpack, write(tmp_path / "good", good), tmp_path, wanted, commands=("create",))
    if packer != "lzma":  # of which there is one stream in a file
        half = len(tar_of(files)) // 2
        parts = compress(tar_of(files)[:half]) + compress(tar_of(files)[half:])
        taken(augurpack, write(tmp_path / "parts", parts), tmp_path, wanted, commands=("create",))
    for name, garbage in (("text", b"this is something else\n" * 3), ("byte", b"x"), ("large", rng.randbytes(5 << 20))):
        refused(augurpack, write(tmp_path / name, good + garbage), tmp_path / "store", commands=("create",))


def test_garbage_behind_gzip_is_called_that(augurpack, tmp_path):
    packed = gzip.compress(tar_of(ONE))
    refused(augurpack, write(tmp_path / "x.gz", packed + b"garbage"), tmp_path / "store",
            f"something follows the compressed data, which ends at byte {len(packed)}", commands=("create",))  # fmt: skip


def test_damaged_compressed_data_is_not_called_no_archive(augurpack, tmp_path):
    data = bytearray(lzma.compress(tar_of(ONE)))
    data[len(data) // 2] ^= 1
    for bad in (data, lzma.compress(tar_of(ONE))[:100]):
        done = run(augurpack, "create", write(tmp_path / "x.xz", bad), tmp_path / "store", ok=(2,))
        assert "neither" not in done.error and "make or fetch" in done.error


def test_volumes(augurpack, tmp_path):
    write(tmp_path / "top" / "large", random.Random(1).randbytes(40_000))
    volumes = [tmp_path / f"{i}.tar" for i in range(2)]
    run("tar", "-C", tmp_path / "top", "-cM", "-L", "30", "-f", volumes[0], "-f", volumes[1], "large")
    refused(augurpack, volumes[0], tmp_path / "store")
    refused(augurpack, volumes[1], tmp_path / "store", "the rest of a file that begins in another volume")


def test_a_label_and_an_incremental_dump(augurpack, tmp_path):
    write(tmp_path / "top" / "a", b"a")
    run("tar", "-C", tmp_path / "top", "-V", "label", "-cf", tmp_path / "label.tar", "a")
    run("tar", "-C", tmp_path, "-g", tmp_path / "snapshot", "-cf", tmp_path / "dump.tar", "top")
    taken(augurpack, tmp_path / "label.tar", tmp_path, {b"a": b"a"})
    taken(augurpack, tmp_path / "dump.tar", tmp_path, {b"top/a": b"a"})


def test_a_size_in_the_pax_header_holds(augurpack, tmp_path):
    """As for files of 8 GiB and more, whose size has no room in the header."""
    with tarfile.open(tmp_path / "x.tar", "w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("a")
        info.size = 1500
        info.pax_headers = {"size": "1500"}
        data = info.tobuf(tarfile.PAX_FORMAT)
        tar.fileobj.write(data[:-512] + tarfile.TarInfo("a").tobuf(tarfile.USTAR_FORMAT))  # whose own size is 0
        tar.fileobj.write((b"a" * 1500).ljust(1536, b"\0"))
        tar.offset = tar.fileobj.tell()
        add(tar, "b", b"behind")
    files = {b"a": b"a" * 1500, b"b": b"behind"}
    assert unpacked("tar", tmp_path / "x.tar", tmp_path / "gnu") == (0, files)
    taken(augurpack, tmp_path / "x.tar", tmp_path, files)


def test_a_damaged_pax_header_is_refused(augurpack, tmp_path):
    """No checksum covers it. libarchive goes on with the short name that stands in the header behind it."""
    name = "n" * 150
    data = tar_of({name: b"1"}, tarfile.PAX_FORMAT)
    at = data.index(b" path=" + name.encode())
    for bad in (data[: at - 1] + b"z" + data[at:], data.replace(b" path=", b" path-")):
        refused(augurpack, write(tmp_path / "x.tar", bad), tmp_path / "store", "pax")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_are_not_normalized(augurpack, tmp_path, form):
    name = {"NFC": "\u00e9", "NFD": "e\u0301"}[form]
    for tar_format in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        path = write(tmp_path / f"{tar_format}.tar", tar_of({name: b"1"}, tar_format))
        taken(augurpack, path, tmp_path, {name.encode(): b"1"})
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("ascii/", b"")
        archive.writestr(name, b"1")
    taken(augurpack, tmp_path / "x.zip", tmp_path, {name.encode(): b"1"}, commands=("create",))


def test_names_that_only_look_alike_stay_two_files(augurpack, tmp_path):
    names = ["\u00e9", "e\u0301"]
    write(tmp_path / "x.tar", tar_of({name: name.encode() for name in names}, tarfile.PAX_FORMAT))
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name in names:
            archive.writestr(name, name.encode())
    for kind in ("tar", "zip"):
        taken(augurpack, tmp_path / f"x.{kind}", tmp_path, {name.encode(): name.encode() for name in names}, commands=("create",))


def test_a_zip_member_of_two_names_is_refused(augurpack, tmp_path):
    """zipfile refuses it, too; unzip takes the name of the directory, libarchive that of the member."""
    data = make_zip(tmp_path / "x.zip").read_bytes()
    at = data.rindex(b"d/a.txt", 0, data.rindex(b"PK\1\2"))
    path = write(tmp_path / "two.zip", data[:at] + b"d/b.txt" + data[at + 7 :])
    refused(augurpack, path, tmp_path / "store", "d/b.txt: is called 'd/a.txt' in its own header", commands=("create",))


STUBS = {"script": b"#!/bin/sh\nexit 1\n", "elf": b"\x7fELF" + bytes(60_000), "text": b"x" * 700}


@pytest.mark.parametrize("stub", STUBS)
def test_a_zip_behind_other_bytes(augurpack, tmp_path, stub):
    """As programs that unpack themselves are. unzip and zipfile read them."""
    whole = make_zip(tmp_path / "x.zip")
    path = write(tmp_path / "self.zip", STUBS[stub] + whole.read_bytes())
    run(augurpack, "create", whole, tmp_path / "whole")
    run(augurpack, "create", path, tmp_path / "store")
    assert store_tree(tmp_path / "store") == store_tree(tmp_path / "whole")
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.endswith("/") and name != "link":
                assert store_tree(tmp_path / "store")[1][name.encode()] == archive.read(name)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        done = run(augurpack, "create", "-", tmp_path / "piped", stdin=cat.stdout, ok=(2,))
    assert "from a file only" in done.error


def test_ends_of_zips(augurpack, tmp_path):
    data = make_zip(tmp_path / "x.zip").read_bytes()
    write(tmp_path / "trailing.zip", data + b"something else\n")
    taken(augurpack, tmp_path / "trailing.zip", tmp_path, unpacked_zip(data), commands=("create",))
    refused(augurpack, write(tmp_path / "twice.zip", data + data), tmp_path / "store", "two zip files",
            f"at byte {len(data)}", commands=("create",))  # fmt: skip
    for cut in (10, 22, 100, len(data) // 2):
        path = write(tmp_path / "cut.zip", data[:-cut])
        refused(augurpack, path, tmp_path / "store", "cut off", commands=("create",))
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    taken(augurpack, write(tmp_path / "empty.zip", empty.getvalue()), tmp_path, {}, commands=("create",))


def unpacked_zip(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {n.encode(): archive.read(n) for n in archive.namelist() if not n.endswith("/") and n != "link"}


def test_a_zip_that_lacks_members_is_refused(augurpack, tmp_path):
    """libarchive takes the offset of the directory as it is and begins with the first entry that it finds there."""
    data = bytearray(make_zip(tmp_path / "x.zip").read_bytes())
    at = data.rindex(b"PK\5\6")
    size = int.from_bytes(data[at + 12 : at + 16], "little")
    data[at + 12 : at + 16] = (size - 50).to_bytes(4, "little")  # the directory would begin behind its first entry
    path = write(tmp_path / "short.zip", data)
    refused(augurpack, path, tmp_path / "store", commands=("create",))


def test_parts_of_a_split_zip(augurpack, tmp_path):
    need("zip")
    write(tmp_path / "top" / "large", random.Random(1).randbytes(200_000))
    run("zip", "-q", "-s", "64k", "-r", tmp_path / "x.zip", ".", cwd=tmp_path / "top")
    refused(augurpack, tmp_path / "x.zip", tmp_path / "store", "split zip", "zip -s 0", commands=("create",))


def test_many_members_and_64_bit_numbers(augurpack, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for i in range(66_000):
            archive.writestr(str(i), b"")
    run(augurpack, "create", tmp_path / "x.zip", tmp_path / "store")
    assert json.loads(run(augurpack, "info", "--json", tmp_path / "store").stdout)["files"] == 66_000
