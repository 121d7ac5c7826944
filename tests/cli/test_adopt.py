# SPDX-License-Identifier: Apache-2.0
"""augurpack adopt: tars become stores where they lie."""

import gzip
import io
import json
import os
import random
import tarfile

import pytest
from adopt_support import refused
from pack_support import assert_store_equals, reader, run, store_entries, store_tree, write
from test_pack_archive import FORMATS, add, make_tar, source  # noqa: F401


def tar_of(files, tar_format=tarfile.PAX_FORMAT):
    """The bytes of a tar of {name: data}."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tar_format) as tar:
        for name, data in files.items():
            add(tar, name, data)
    return out.getvalue()


@pytest.mark.parametrize("tar_format", [*FORMATS, "v7"])
def test_an_adopted_tar_is_the_tree_and_copies_nothing(augurpack, source, tmp_path, tar_format):  # noqa: F811
    tar = tmp_path / "x.tar"
    if tar_format == "v7":
        run("tar", "-C", source, "--format=v7", "-cf", tar, ".")
    else:
        make_tar(tar, source, FORMATS[tar_format])
    before = tar.stat()
    summary = json.loads(run(augurpack, "adopt", "--json", tar, tmp_path / "store").stdout)
    assert summary["stored_bytes"] == 0
    assert_store_equals(tmp_path / "store", source)
    run(augurpack, "verify", tmp_path / "store")
    assert tar.stat().st_mtime_ns == before.st_mtime_ns and tar.stat().st_size == before.st_size
    assert sum(p.stat().st_size for p in (tmp_path / "store").iterdir()) < 1 << 20
    with reader.Store(tmp_path / "store") as store:
        # Python's own reader says where each member lies.
        with tarfile.open(tar) as members:
            offsets = {m.name.removeprefix("./").encode(): m.offset_data for m in members if m.isreg() and m.size}
        got = {name: e.offset for name, e in store_entries(store).items() if e.is_file and e.size}
        assert got == offsets


def test_long_names_and_large_members(augurpack, tmp_path):
    rng = random.Random(9)
    files = {"n" * 150 + "/" + "m" * 250: b"long", "big": rng.randbytes((17 << 20) + 3), "é\udcff": b"raw",
             "megabyte": rng.randbytes(1 << 20), "megabyte+1": rng.randbytes((1 << 20) + 1)}  # fmt: skip
    for name, tar_format in (("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT)):
        write(tmp_path / f"{name}.tar", tar_of(files, tar_format))
        run(augurpack, "adopt", tmp_path / f"{name}.tar", tmp_path / name)
        assert store_tree(tmp_path / name)[1] == {os.fsencode(n): data for n, data in files.items()}
        reader.full_check(tmp_path / name)


def test_tars_within_a_tar(augurpack, tmp_path):
    rng = random.Random(2)
    classes = {f"n{i:02}": {f"n{i:02}_{j}.JPEG": rng.randbytes(rng.randrange(90_000)) for j in range(12)} for i in range(5)}
    outer = {f"{name}.tar": tar_of(files) for name, files in classes.items()}
    outer["readme"] = b"text"
    outer["deep/inner.tar"] = tar_of({"x.tar": tar_of({"y": b"deepest"}), "z": b"z"})
    outer["empty.tar"] = tar_of({})
    write(tmp_path / "all.tar", tar_of(outer))
    run(augurpack, "adopt", "--nested", tmp_path / "all.tar", tmp_path / "store")
    tree, contents = store_tree(tmp_path / "store")
    wanted = {f"{c}/{name}".encode(): data for c, files in classes.items() for name, data in files.items()}
    wanted |= {b"readme": b"text", b"deep/inner/x/y": b"deepest", b"deep/inner/z": b"z"}
    assert contents == wanted
    assert tree[b"empty"][0] == 0o040000
    run(augurpack, "verify", tmp_path / "store")
    # Without --nested a tar within is a file like any other.
    run(augurpack, "adopt", tmp_path / "all.tar", tmp_path / "flat")
    assert store_tree(tmp_path / "flat")[1][b"n00.tar"] == outer["n00.tar"]


def test_nested_refuses_what_is_no_tar_and_what_has_no_end(augurpack, tmp_path):
    write(tmp_path / "x.tar", tar_of({"a.tar": b"this is no tar" * 100}))
    done = run(augurpack, "adopt", "--nested", tmp_path / "x.tar", tmp_path / "store", ok=(2,))
    assert "x.tar: a.tar: is not an uncompressed tar" in done.error
    data = tar_of({"end": b"1"})
    for _ in range(20):
        data = tar_of({"x.tar": data})
    write(tmp_path / "deep.tar", data)
    done = run(augurpack, "adopt", "--nested", tmp_path / "deep.tar", tmp_path / "store", ok=(2,))
    assert "deep" in done.error and not (tmp_path / "store" / "manifest").exists()


def test_several_tars_make_one_tree(augurpack, tmp_path):
    for i in range(3):
        write(tmp_path / f"{i}.tar", tar_of({f"{i}.jpg": b"%d" % i, "d/": b"", f"d/{i}": b"d%d" % i}))
    tars = [tmp_path / f"{i}.tar" for i in range(3)]
    run(augurpack, "adopt", *tars, tmp_path / "store")
    assert store_tree(tmp_path / "store")[1] == {n: d for i in range(3) for n, d in
                                                 ((b"%d.jpg" % i, b"%d" % i), (b"d/%d" % i, b"d%d" % i))}  # fmt: skip


def test_a_name_that_comes_twice(augurpack, tmp_path):
    write(tmp_path / "one.tar", tar_of({"same": b"from one"}))
    write(tmp_path / "two.tar", tar_of({"same": b"from two"}))
    tars = [tmp_path / "one.tar", tmp_path / "two.tar"]
    done = run(augurpack, "adopt", *tars, tmp_path / "store", ok=(2,))
    assert f"'same' comes twice: in {tars[0]}, and in {tars[1]}: --on-duplicate=first or --on-duplicate=last" in done.error
    run(augurpack, "adopt", "--on-duplicate=first", *tars, tmp_path / "first")
    assert store_tree(tmp_path / "first")[1] == {b"same": b"from one"}
    run(augurpack, "adopt", "--on-duplicate=last", *tars, tmp_path / "last")
    assert store_tree(tmp_path / "last")[1] == {b"same": b"from two"}


def test_links_in_a_tar(augurpack, tmp_path):
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        add(tar, "hard-before", type=tarfile.LNKTYPE, linkname="d/a")
        add(tar, "d/a", b"bytes")
        add(tar, "hard", type=tarfile.LNKTYPE, linkname="./d/a")
        add(tar, "symbolic", type=tarfile.SYMTYPE, linkname="d/a")
        add(tar, "fifo", type=tarfile.FIFOTYPE)
    done = run(augurpack, "adopt", tmp_path / "x.tar", tmp_path / "store")
    assert "fifo" in done.error
    tree, contents = store_tree(tmp_path / "store")
    assert contents == {b"d/a": b"bytes", b"hard": b"bytes", b"hard-before": b"bytes"}
    assert tree[b"symbolic"][3] == b"d/a"


def test_compressed_and_sparse_tars_name_the_cure(augurpack, tmp_path):
    write(tmp_path / "x.tar.gz", gzip.compress(tar_of({"a": b"1"})))
    done = run(augurpack, "adopt", tmp_path / "x.tar.gz", tmp_path / "store", ok=(2,))
    assert f"{tmp_path}/x.tar.gz: is not an uncompressed tar" in done.error
    assert "augurpack create - STORE < FILE" in done.error
    for bad in (b"", b"hello"):
        write(tmp_path / "bad.tar", bad)
        done = run(augurpack, "adopt", tmp_path / "bad.tar", tmp_path / "store", ok=(2,))
        assert "bad.tar" in done.error and "leave out what is none" in done.error
    (tmp_path / "s").mkdir()
    with open(tmp_path / "s" / "sparse", "wb") as file:
        file.seek(4 << 20)
        file.write(b"end")
    for tar_format in ("gnu", "posix"):
        run("tar", "-C", tmp_path / "s", "-S", f"--format={tar_format}", "-cf", tmp_path / "s.tar", "sparse")
        done = run(augurpack, "adopt", tmp_path / "s.tar", tmp_path / "store", ok=(2,))
        assert "s.tar: sparse: is sparse" in done.error and "augurpack create - STORE < FILE" in done.error
    assert not (tmp_path / "store" / "manifest").exists()


def test_a_cut_tar_is_refused(augurpack, source, tmp_path):  # noqa: F811
    data = make_tar(tmp_path / "x.tar", source).read_bytes()
    write(tmp_path / "cut.tar", data[: len(data) - (5 << 20)])
    done = run(augurpack, "adopt", tmp_path / "cut.tar", tmp_path / "store", ok=(2,))
    assert "cut.tar" in done.error and not (tmp_path / "store" / "manifest").exists()


PLAIN = tar_of({"a.jpg": bytes(range(200)) * 3, "d/b.jpg": b"100 bytes." * 10, "c.jpg": b"?" * 2000}, tarfile.USTAR_FORMAT)
SECOND = 512 + 1024  # its second header
FIELDS = {"name": (0, 100), "size": (124, 12), "type": (156, 1), "link": (157, 100)}  # of a header, POSIX ustar


def with_header(at, data=PLAIN, checks=True, **fields):
    """The tar with other fields in a header, and, with `checks`, its checksum."""
    out = bytearray(data)
    for name, value in fields.items():
        begin, length = at + FIELDS[name][0], FIELDS[name][1]
        out[begin : begin + length] = value.ljust(length, b"\0")
    if checks:
        out[at + 148 : at + 156] = b" " * 8
        out[at + 148 : at + 156] = b"%06o\0 " % sum(out[at : at + 512])
    return bytes(out)


def behind(kind, text, size=None):
    """The tar behind a header that is about its first member: of pax (x), or a long name of GNU tar (L)."""
    head = with_header(0, PLAIN[:512], name=b"about", type=kind, size=b"%011o" % (len(text) if size is None else size))
    return head + text + bytes(-len(text) % 512) + PLAIN


def link(kind, target):
    return with_header(SECOND, PLAIN[: SECOND + 512] + bytes(10240), type=kind, link=target, size=b"%011o" % 0)


BAD = {
    "cut in the first header": (PLAIN[:300], "x.tar: "),
    "cut in a header": (PLAIN[: SECOND + 100], "Truncated tar archive"),
    "cut behind a header": (PLAIN[: SECOND + 512], "d/b.jpg: Truncated"),
    "cut in bytes": (PLAIN[:700], "a.jpg: Truncated"),
    "cut in padding": (PLAIN[: SECOND - 1], "a.jpg: Truncated"),
    "sum of the first header": (with_header(0, checks=False, name=b"b"), "x.tar: "),
    "sum of a header": (with_header(SECOND, checks=False, name=b"b"), "Damaged tar archive"),
    "header of garbage": (PLAIN[:SECOND] + b"?" * 512 + PLAIN[SECOND + 512 :], "Damaged tar archive"),
    "size is no number": (with_header(SECOND, size=b"00000zzz146"), "Damaged tar archive"),
    "size beyond the file": (with_header(SECOND, size=b"77777777777"), "d/b.jpg: Truncated"),
    "size of 4 EiB": (with_header(SECOND, size=b"\x80\0\0\0\x40" + bytes(7)), "d/b.jpg: Truncated"),
    "size of 64 bits and more": (with_header(SECOND, size=b"\x80\0\0\1" + bytes(8)), "size overflow"),
    "size below zero": (with_header(SECOND, size=b"\xff" * 12), "negative size"),
    "a smaller size": (with_header(0, size=b"%011o" % 500), "Damaged tar archive"),
    "a larger size": (with_header(0, size=b"%011o" % 1100), "Damaged tar archive"),
    "name above": (with_header(SECOND, name=b"../x.jpg"), "x.tar: ../x.jpg: has a '..' in it"),
    "name above within": (with_header(SECOND, name=b"d/../../x.jpg"), "has a '..' in it"),
    "no name": (with_header(SECOND, name=b""), "the root is a folder"),
    "long name": (behind(b"L", b"n" * 300 + b"\0"), "longer than 255 bytes"),
    "long name of 8 GiB": (behind(b"L", b"n" * 300, (1 << 33) - 1), "Special header too large"),
    "long name cut": (behind(b"L", b"n" * 300)[:600], "cut off"),
    "pax of 8 GiB": (behind(b"x", b"10 path=x\n", (1 << 33) - 1), "Special header too large"),
    "pax length": (behind(b"x", b"999 path=x\n"), "pax extended attribute"),
    "pax without a length": (behind(b"x", b"zz path=x\n"), "pax extended attribute"),
    "pax size below zero": (behind(b"x", b"11 size=-5\n"), "is negative"),
    "pax name above": (behind(b"x", b"13 path=../x\n"), "x.tar: ../x: has a '..' in it"),
    "hard link above": (link(b"1", b"../x"), "x.tar: ../x: has a '..' in it"),
    "symbolic link to nothing": (link(b"2", b""), "a link target has 1 to 4,095 bytes"),
    "rest of a volume": (with_header(0, type=b"M"), "begins in another volume"),
    "more behind": (PLAIN * 2, "something follows the tar's end mark"),
    "garbage behind": (PLAIN + b"?" * 512, "something follows the tar's end mark"),
}  # fmt: skip


@pytest.mark.parametrize("data, cause", BAD.values(), ids=BAD)
def test_bad_files(augurpack, tmp_path, data, cause):
    path = write(tmp_path / "x.tar", data)
    for command in ("adopt", "create"):
        error = refused(augurpack, path, command=command)
        assert cause in error
        assert "tar archive" not in error or "make or fetch the archive anew" in error


def test_relative_and_absolute_references(augurpack, tmp_path):
    write(tmp_path / "data" / "tars" / "x.tar", tar_of({"a": b"1"}))
    run(augurpack, "adopt", "data/tars/x.tar", "data/store", cwd=tmp_path)
    run(augurpack, "adopt", "--absolute", "data/tars/x.tar", "data/absolute", cwd=tmp_path)
    (tmp_path / "data").rename(tmp_path / "moved")
    assert store_tree(tmp_path / "moved" / "store")[1] == {b"a": b"1"}
    with pytest.raises(reader.StoreError):
        store_tree(tmp_path / "moved" / "absolute")


def test_a_foreign_tar_that_changed(augurpack, tmp_path):
    tar = write(tmp_path / "x.tar", tar_of({"a": b"1" * 1000}))
    run(augurpack, "adopt", tar, tmp_path / "store")
    os.utime(tar, ns=(1, 1))
    done = run(augurpack, "verify", tmp_path / "store")
    assert "x.tar: its time has changed since the store was made" in done.error
    tar.write_bytes(tar.read_bytes() + b"\0" * 512)
    done = run(augurpack, "verify", tmp_path / "store", ok=(1, 2))
    assert b"x.tar" in done.stdout + done.stderr
