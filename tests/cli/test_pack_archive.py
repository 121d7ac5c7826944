# SPDX-License-Identifier: Apache-2.0
"""augurpack create from tar and zip, in files and through pipes."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import shutil
import stat
import subprocess
import tarfile
import zipfile

import pytest
from pack_support import PATIENCE_S, assert_store_equals, reader, run, store_tree, write

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


@pytest.fixture
def source(tmp_path):
    """A tree that every tar format can hold: whole seconds, no names over 100 bytes; the rest has tests of its own."""
    top = tmp_path / "source"
    rng = random.Random(4)
    for i in range(30):
        write(top / f"n{i % 3}" / f"{i}.JPEG", rng.randbytes(rng.randrange(150_000)), mtime_ns=(10**9 + i) * 10**9)
    write(top / "large", rng.randbytes((9 << 20) + 7), mtime_ns=10**18, mode=0o600)
    write(top / "exactly", rng.randbytes(8 << 20), mtime_ns=10**18)
    write(top / "empty", b"", mtime_ns=10**18)
    (top / "empty folder").mkdir(mode=0o700)
    os.symlink("n0/0.JPEG", top / "link")
    os.utime(top / "link", ns=(0, 10**18), follow_symlinks=False)
    for folder in ("n0", "n1", "n2", "empty folder", ""):
        os.utime(top / folder, ns=(0, 1_600_000_000_000_000_000))
    return top


def make_tar(path, source, tar_format=tarfile.PAX_FORMAT, mode="w"):
    with tarfile.open(path, mode, format=tar_format) as tar:
        tar.add(source, arcname=".")
    return path


@pytest.mark.parametrize("tar_format", FORMATS)
def test_a_tar_gives_the_tree(augurpack, source, tmp_path, tar_format):
    tar = make_tar(tmp_path / "x.tar", source, FORMATS[tar_format])
    run(augurpack, "create", tar, tmp_path / "store")
    assert_store_equals(tmp_path / "store", source)


@pytest.mark.parametrize("compress", [None, gzip.compress, bz2.compress, lzma.compress], ids=["plain", "gzip", "bzip2", "xz"])
def test_a_tar_through_a_pipe(augurpack, source, tmp_path, compress):
    for slow in ("large", "exactly"):
        (source / slow).unlink()
    os.utime(source, ns=(0, 10**18))
    data = make_tar(tmp_path / "x.tar", source).read_bytes()
    done = subprocess.run([augurpack, "create", "-", tmp_path / "store"], input=compress(data) if compress else data,
                          capture_output=True, timeout=PATIENCE_S)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert_store_equals(tmp_path / "store", source)


def test_names_of_any_bytes_and_odd_spellings(augurpack, tmp_path):
    names = {
        b"raw-\xff\xfe": b"raw-\xff\xfe",
        "猫/é".encode(): "猫/é".encode(),
        b"./dot/./x": b"dot/x",
        b"/absolute": b"absolute",
        b"double//slash": b"double/slash",
        b"l" * 200 + b"/" + b"m" * 200: b"l" * 200 + b"/" + b"m" * 200,
    }
    for name, tar_format in FORMATS.items():
        if name == "ustar":
            continue
        with tarfile.open(tmp_path / f"{name}.tar", "w", format=tar_format) as tar:
            for raw in names:
                info = tarfile.TarInfo(os.fsdecode(raw))
                info.size = len(raw)
                tar.addfile(info, io.BytesIO(raw))
        run(augurpack, "create", tmp_path / f"{name}.tar", tmp_path / name, env={"LC_ALL": "C"})
        assert store_tree(tmp_path / name)[1] == {clean: raw for raw, clean in names.items()}
        reader.full_check(tmp_path / name)


def test_times_below_a_second(augurpack, tmp_path):
    with tarfile.open(tmp_path / "x.tar", "w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("x")
        info.pax_headers = {"mtime": "1234567890.123456789"}
        tar.addfile(info)
    run(augurpack, "create", tmp_path / "x.tar", tmp_path / "store")
    assert store_tree(tmp_path / "store")[0][b"x"][2] == 1234567890123456789


def add(tar, name, data=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    tar.addfile(info, io.BytesIO(data))


def test_links_duplicates_and_what_is_no_file(augurpack, tmp_path):
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        add(tar, "./a", b"first")
        add(tar, "hard", type=tarfile.LNKTYPE, linkname="./a")
        add(tar, "symbolic", type=tarfile.SYMTYPE, linkname="a")
        add(tar, "fifo", type=tarfile.FIFOTYPE)
        add(tar, "twice", b"old")
        add(tar, "twice", b"the later one counts, as when it is unpacked")
    done = run(augurpack, "create", "--json", tmp_path / "x.tar", tmp_path / "store")
    assert "x.tar: fifo: a fifo, socket or device: left out" in done.error
    assert json.loads(done.stdout)["left_out"] == 1
    tree, contents = store_tree(tmp_path / "store")
    assert contents == {b"a": b"first", b"hard": b"first", b"twice": b"the later one counts, as when it is unpacked"}
    assert tree[b"symbolic"][3] == b"a"
    reader.full_check(tmp_path / "store")


def test_a_hard_link_needs_the_name_that_has_the_bytes(augurpack, tmp_path):
    """A tar has them at the first name only. What is missing is said when the link comes, and left out as what cannot be read."""
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as tar:
        add(tar, "a.txt", b"bytes")
        add(tar, "a.jpg", type=tarfile.LNKTYPE, linkname="a.txt")
        add(tar, "b.jpg", type=tarfile.LNKTYPE, linkname="a.jpg")
        add(tar, "c.jpg", b"of its own")
        add(tar, "d.jpg", type=tarfile.LNKTYPE, linkname="./c.jpg")
    done = run(augurpack, "create", "--include=*.jpg", path, tmp_path / "store", ok=(2,))
    assert f"{path}: a.jpg: has its bytes at its other name, 'a.txt', which --include or --exclude leaves out" in done.error
    for options in (["--include=*.jpg"], ["--exclude=a.txt"]):
        done = run(augurpack, "create", "--force", "--on-error=skip", *options, path, tmp_path / "store", ok=(1,))
        assert "b.jpg: has its bytes at its other name, 'a.jpg', which could not be packed" in done.error
        assert store_tree(tmp_path / "store")[1] == {b"c.jpg": b"of its own", b"d.jpg": b"of its own"}
    run(augurpack, "create", "--force", "--include=*.jpg", "--include=a.txt", path, tmp_path / "store")
    assert store_tree(tmp_path / "store")[1][b"b.jpg"] == b"bytes"


def test_a_hard_link_to_what_is_no_file_is_none(augurpack, tmp_path):
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        add(tar, "fifo", type=tarfile.FIFOTYPE)
        add(tar, "again", type=tarfile.LNKTYPE, linkname="fifo")
        add(tar, "file", b"1")
    done = run(augurpack, "create", "--json", tmp_path / "x.tar", tmp_path / "store")
    assert "x.tar: again: a fifo, socket or device: left out" in done.error
    assert json.loads(done.stdout)["left_out"] == 2
    assert store_tree(tmp_path / "store")[1] == {b"file": b"1"}


def test_a_name_that_leaves_the_tree_is_refused(augurpack, tmp_path):
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        add(tar, "good", b"1")
        add(tar, "a/../../evil", b"2")
    done = run(augurpack, "create", tmp_path / "x.tar", tmp_path / "store", ok=(2,))
    assert "a/../../evil: has a '..' in it" in done.error
    done = run(augurpack, "create", "--on-error=skip", tmp_path / "x.tar", tmp_path / "store", ok=(1,))
    assert "a/../../evil" in done.error
    assert store_tree(tmp_path / "store")[1] == {b"good": b"1"}


def test_holes_are_zeros(augurpack, tmp_path):
    top = tmp_path / "s"
    top.mkdir()
    with open(top / "sparse", "wb") as file:
        file.write(b"begin")
        file.seek(12 << 20)
        file.write(b"middle")
        file.truncate(20 << 20)
    for tar_format in ("gnu", "posix"):
        run("tar", "-C", top, "-S", f"--format={tar_format}", "-cf", tmp_path / "x.tar", ".")
        assert (tmp_path / "x.tar").stat().st_size < 1 << 20
        run(augurpack, "create", "--force", tmp_path / "x.tar", tmp_path / "store")
        assert store_tree(tmp_path / "store")[1][b"sparse"] == (top / "sparse").read_bytes()


def test_broken_archives_are_refused(augurpack, source, tmp_path):
    data = make_tar(tmp_path / "x.tar", source).read_bytes()
    cases = {"cut": data[: len(data) // 2], "text": b"hello\n" * 500, "empty": b"", "gzip cut": gzip.compress(data)[:100_000]}
    header = bytearray(data)
    at = data.index(b"ustar", len(data) // 2)
    header[at - 100] ^= 1  # a field under the checksum of a header in the middle
    cases["header"] = bytes(header)
    for name, bad in cases.items():
        write(tmp_path / name, bad)
        done = run(augurpack, "create", tmp_path / name, tmp_path / "store", ok=(2,))
        assert f"{tmp_path / name}" in done.error, name
        assert not (tmp_path / "store" / "manifest").exists()


def packed_by(*words):
    return lambda data: subprocess.run(words, input=data, stdout=subprocess.PIPE, check=True).stdout


def flip(data, bit):
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


# Those that carry a checksum, as their programs make them. Two members, for that the second is checked, too.
CHECKED = {"gzip": gzip.compress, "gzip-members": lambda data: gzip.compress(data[:3000]) + gzip.compress(data[3000:]),
           "bzip2": bz2.compress, "xz": lzma.compress, "zstd": packed_by("zstd", "-qc"), "lz4": packed_by("lz4", "-qc")}  # fmt: skip


@pytest.mark.parametrize("packer", CHECKED)
def test_no_flipped_bit_of_a_compressed_tar_gets_through(augurpack, tmp_path, packer):
    if shutil.which(packer) is None and packer in ("zstd", "lz4"):
        pytest.skip(f"needs {packer}")
    rng = random.Random(11)
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        for name in range(4):
            add(tar, str(name), b"".join(rng.choice([b"alpha ", b"beta ", rng.randbytes(4)]) for _ in range(500)))
    data = CHECKED[packer]((tmp_path / "x.tar").read_bytes())
    path = tmp_path / "x"
    path.write_bytes(data)
    run(augurpack, "create", path, tmp_path / "good")
    good = store_tree(tmp_path / "good")
    for _ in range(25):
        path.write_bytes(flip(data, bit := rng.randrange(len(data) * 8)))
        done = run(augurpack, "create", path, tmp_path / "store", ok=(0, 2))
        if done.returncode == 2:
            assert str(path) in done.error
            assert not (tmp_path / "store").exists(), bit  # nothing that a resume might take over
        else:  # a bit that says nothing of the bytes, as gzip's time
            assert store_tree(tmp_path / "store") == good, bit
            shutil.rmtree(tmp_path / "store")


@pytest.mark.parametrize("packer", ["gzip", "lz4"])
def test_a_wrong_checksum_at_the_end_leaves_no_store(augurpack, source, tmp_path, packer):
    if shutil.which(packer) is None:
        pytest.skip(f"needs {packer}")
    data = CHECKED[packer](make_tar(tmp_path / "x.tar", source).read_bytes())
    path = tmp_path / "x"
    path.write_bytes(flip(data, (len(data) - (8 if packer == "gzip" else 4)) * 8))
    for options in ((), ("--resume",), ("--on-error=skip",)):
        done = run(augurpack, "create", *options, path, tmp_path / "store", ok=(2,))
        assert f"{path}: " in done.error and "check" in done.error
        assert not (tmp_path / "store").exists()
    path.write_bytes(data)
    done = run(augurpack, "create", "--resume", "--json", path, tmp_path / "store")
    assert json.loads(done.stdout)["resumed"] == 0
    assert_store_equals(tmp_path / "store", source)


def test_a_padded_gzip_is_whole(augurpack, source, tmp_path):
    data = gzip.compress(make_tar(tmp_path / "x.tar", source).read_bytes(), 1)
    write(tmp_path / "x", data + bytes(12345))
    run(augurpack, "create", tmp_path / "x", tmp_path / "store")
    assert_store_equals(tmp_path / "store", source)


def make_zip(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo("d/a.txt", (2020, 2, 2, 2, 2, 2))
        info.external_attr = (stat.S_IFREG | 0o640) << 16
        archive.writestr(info, b"text " * 1000)
        link = zipfile.ZipInfo("link")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "d/a.txt")
        bare = zipfile.ZipInfo("bare")
        bare.external_attr = 0
        archive.writestr(bare, b"no mode")
        dos = zipfile.ZipInfo("dos/")
        dos.create_system = 0
        dos.external_attr = 0x10
        archive.writestr(dos, b"")
        archive.writestr(zipfile.ZipInfo("stored"), random.Random(1).randbytes(9 << 20), zipfile.ZIP_STORED)
    return path


@pytest.mark.parametrize("piped", [False, True])
def test_a_zip(augurpack, tmp_path, piped):
    path = make_zip(tmp_path / "x.zip")
    if piped:
        with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
            run(augurpack, "create", "-", tmp_path / "store", stdin=cat.stdout)
    else:
        run(augurpack, "create", path, tmp_path / "store")
    tree, contents = store_tree(tmp_path / "store")
    assert contents == {b"d/a.txt": b"text " * 1000, b"bare": b"no mode", b"stored": random.Random(1).randbytes(9 << 20)}
    assert tree[b"d/a.txt"][:2] == (stat.S_IFREG, 0o640)
    assert tree[b"link"][0] == stat.S_IFLNK and tree[b"link"][3] == b"d/a.txt"
    assert tree[b"bare"][1] & 0o600 == 0o600
    assert tree[b"dos"][0] == stat.S_IFDIR and tree[b"dos"][1] & 0o500 == 0o500
    reader.full_check(tmp_path / "store")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
@pytest.mark.parametrize("size", [5000, 9 << 20], ids=["small", "large"])
def test_a_damaged_member_of_a_zip_is_never_packed(augurpack, tmp_path, method, size):
    path = tmp_path / "x.zip"
    data = random.Random(7).randbytes(size)  # deflate stores it, so that a flipped bit is one in the bytes
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("before", b"good " * 100)
        archive.writestr("bad", data)
        archive.writestr("behind", b"also good " * 100)
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(data[1000:1100]) + 50] ^= 1
    path.write_bytes(damaged)
    done = run(augurpack, "create", path, tmp_path / "store", ok=(2,))
    assert f"{path}: bad: ZIP bad CRC" in done.error and "anew" in done.error
    assert not (tmp_path / "store" / "manifest").exists()
    done = run(augurpack, "create", "--on-error=skip", path, tmp_path / "store", ok=(1,))
    assert f"{path}: bad: ZIP bad CRC" in done.error
    assert store_tree(tmp_path / "store")[1] == {b"before": b"good " * 100, b"behind": b"also good " * 100}
    reader.full_check(tmp_path / "store")


@pytest.mark.parametrize("order", [["", "a", "b", "c", "a/x", "b/y", "b/z.txt", "c/only.txt"],
                                   ["a/x", "b/z.txt", "b/y", "c/only.txt", "a", "b", "c", ""],
                                   ["b", "b/z.txt", "", "b/y", "c", "a/x", "c/only.txt", "a"]],
                         ids=["folders first", "folders last", "mixed"])  # fmt: skip
def test_folders_keep_their_attributes_in_any_order(augurpack, tmp_path, order):
    """shutil.make_archive and others list all folders first; --include holds them back until it is known which are needed."""
    modes = {"": 0o701, "a": 0o711, "b": 0o750, "c": 0o755}
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        for name in order:
            if name in modes:
                add(tar, name or ".", type=tarfile.DIRTYPE, mode=modes[name], mtime=1000 + modes[name])
            else:
                add(tar, name, b"1", mtime=5)
    run(augurpack, "create", "--exclude=*.txt", "--include=?", tmp_path / "x.tar", tmp_path / "store")
    tree, _ = store_tree(tmp_path / "store")
    folders = {name: entry[1:3] for name, entry in tree.items() if entry[0] == stat.S_IFDIR}
    assert folders == {name.encode(): (modes[name], (1000 + modes[name]) * 10**9) for name in ("", "a", "b")}


def test_include_and_resume_with_a_tar(augurpack, source, tmp_path):
    tar = make_tar(tmp_path / "x.tar", source)
    run(augurpack, "create", "--include=n1/*", tar, tmp_path / "one")
    assert {name.split(b"/")[0] for name in store_tree(tmp_path / "one")[0]} == {b"", b"n1"}
    data = tar.read_bytes()
    with subprocess.Popen([augurpack, "create", "--shard-size=64K", "-", tmp_path / "store"], stdin=subprocess.PIPE) as packer:
        packer.stdin.write(data[: len(data) // 2])
        packer.stdin.flush()
        packer.kill()
        packer.stdin.close()
    assert not (tmp_path / "store" / "manifest").exists()
    run(augurpack, "create", "--resume", "--shard-size=64K", tar, tmp_path / "store")
    assert_store_equals(tmp_path / "store", source)
