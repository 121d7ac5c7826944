# SPDX-License-Identifier: Apache-2.0
"""Hard links of a tar: each has the bytes that its target had when the link was stored, as GNU tar and bsdtar unpack it."""

import os
import subprocess
import tarfile

import pytest
from archive_support import unpacked
from pack_support import PATIENCE_S, reader, run, store_tree, write
from test_pack_archive import add

FIRST, SECOND = b"first", b"the second, which is longer"


@pytest.fixture
def updated(tmp_path):
    """A tar with a, a hard link h to it, and a newer a, made by 'tar u'."""
    top, path = tmp_path / "top", tmp_path / "updated.tar"
    write(top / "a", FIRST, mtime_ns=10**18)
    os.link(top / "a", top / "h")
    run("tar", "-C", top, "-cf", path, "a", "h")
    (top / "a").unlink()
    write(top / "a", SECOND, mtime_ns=10**18 + 10**11)
    run("tar", "-C", top, "-uf", path, "a")
    return path


def test_a_hard_link_keeps_the_bytes_of_its_time(augurpack, updated, tmp_path):
    run(augurpack, "create", updated, tmp_path / "created")
    run(augurpack, "adopt", "--on-duplicate=last", updated, tmp_path / "adopted")
    gnu = unpacked("tar", updated, tmp_path / "gnu")
    assert gnu == unpacked("bsdtar", updated, tmp_path / "bsd") == (0, {b"a": SECOND, b"h": FIRST})
    for store in ("created", "adopted"):
        assert store_tree(tmp_path / store)[1] == gnu[1]
        reader.full_check(tmp_path / store)
        run(augurpack, "verify", tmp_path / store)


def test_links_to_links_and_names_that_change_hands(augurpack, tmp_path):
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as tar:
        add(tar, "a", FIRST)
        add(tar, "h", type=tarfile.LNKTYPE, linkname="a")
        add(tar, "a", SECOND)
        add(tar, "of-the-link", type=tarfile.LNKTYPE, linkname="h")
        add(tar, "h", b"now a file of its own")
        add(tar, "of-the-file", type=tarfile.LNKTYPE, linkname="h")
        add(tar, "of-the-second", type=tarfile.LNKTYPE, linkname="a")
        add(tar, "a", type=tarfile.LNKTYPE, linkname="h")
    gnu = unpacked("tar", path, tmp_path / "gnu")
    assert gnu == unpacked("bsdtar", path, tmp_path / "bsd")
    assert gnu[0] == 0 and gnu[1][b"of-the-link"] == FIRST and gnu[1][b"of-the-second"] == SECOND
    run(augurpack, "create", path, tmp_path / "created")
    run(augurpack, "adopt", "--on-duplicate=last", path, tmp_path / "adopted")
    for store in ("created", "adopted"):
        assert store_tree(tmp_path / store)[1] == gnu[1]
        reader.full_check(tmp_path / store)


def test_of_two_tars_a_link_has_the_bytes_of_its_own(augurpack, tmp_path):
    for name, data in (("one", FIRST), ("two", SECOND)):
        with tarfile.open(tmp_path / f"{name}.tar", "w") as tar:
            add(tar, "a", data)
            add(tar, f"h{name}", type=tarfile.LNKTYPE, linkname="a")
    tars = [tmp_path / "one.tar", tmp_path / "two.tar"]
    for policy, kept in (("first", FIRST), ("last", SECOND)):
        run(augurpack, "adopt", f"--on-duplicate={policy}", *tars, tmp_path / policy)
        assert store_tree(tmp_path / policy)[1] == {b"a": kept, b"hone": FIRST, b"htwo": SECOND}
        reader.full_check(tmp_path / policy)


def test_a_link_to_a_file_of_an_earlier_generation(augurpack, updated, tmp_path):
    write(tmp_path / "old" / "a", b"old")
    with tarfile.open(tmp_path / "link.tar", "w") as tar:
        add(tar, "to-old", type=tarfile.LNKTYPE, linkname="a")
    run(augurpack, "create", tmp_path / "old", tmp_path / "store")
    run(augurpack, "append", tmp_path / "link.tar", tmp_path / "store")
    run(augurpack, "append", "--replace", updated, tmp_path / "store")
    assert store_tree(tmp_path / "store")[1] == {b"a": SECOND, b"h": FIRST, b"to-old": b"old"}


def test_a_link_to_itself_is_the_file(augurpack, tmp_path):
    """As 'find | tar -T -' writes each file that it met before. bsdtar removes the file and fails; GNU tar keeps it."""
    top, path = tmp_path / "top", tmp_path / "x.tar"
    for name in ("b", "d/c"):
        write(top / name, name.encode(), mtime_ns=10**18)
    os.symlink("b", top / "symbolic")
    found = run("find", ".", cwd=top).stdout
    subprocess.run(["tar", "-cf", path, "-T", "-"], input=found, cwd=top, check=True, timeout=PATIENCE_S)
    with tarfile.open(path) as tar:
        assert any(m.islnk() and m.name == m.linkname for m in tar)
    gnu = unpacked("tar", path, tmp_path / "gnu")
    assert gnu == (0, {b"b": b"b", b"d/c": b"d/c"})
    run(augurpack, "create", path, tmp_path / "created")
    run(augurpack, "create", "--include=c", path, tmp_path / "included")
    run(augurpack, "adopt", path, tmp_path / "adopted")
    for store in ("created", "adopted"):
        tree, files = store_tree(tmp_path / store)
        assert files == gnu[1] and tree[b"symbolic"][3] == b"b"
        reader.full_check(tmp_path / store)
    assert store_tree(tmp_path / "included")[1] == {b"d/c": b"d/c"}


def test_a_link_to_itself_alone_has_no_bytes(augurpack, tmp_path):
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        add(tar, "a", type=tarfile.LNKTYPE, linkname="./a")
    assert unpacked("tar", tmp_path / "x.tar", tmp_path / "gnu")[0] == 2
    for command in ("create", "adopt"):
        done = run(augurpack, command, tmp_path / "x.tar", tmp_path / command, ok=(2,))
        assert "'a' is a hard link to itself, and its bytes are not there" in done.error


def test_links_to_what_is_no_file(augurpack, tmp_path):
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as tar:
        add(tar, "fifo", type=tarfile.FIFOTYPE)
        add(tar, "fifo", type=tarfile.LNKTYPE, linkname="fifo")
        add(tar, "again", type=tarfile.LNKTYPE, linkname="fifo")
        add(tar, "was-fifo", type=tarfile.FIFOTYPE)
        add(tar, "was-fifo", FIRST)
        add(tar, "link", type=tarfile.LNKTYPE, linkname="was-fifo")
    for command in ("create", "adopt"):
        done = run(augurpack, command, path, tmp_path / command)
        assert done.error.count("left out") == 3 and "again: a fifo" in done.error
        assert store_tree(tmp_path / command)[1] == {b"was-fifo": FIRST, b"link": FIRST}


def test_a_resumed_run_keeps_versions_of_one_size_and_time_apart(augurpack, tmp_path):
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as tar:
        add(tar, "a", b"1" * 5000, mtime=7)
        add(tar, "h", type=tarfile.LNKTYPE, linkname="a")
        add(tar, "a", b"2" * 5000, mtime=7)
        add(tar, "../evil", b"ends the run")
    run(augurpack, "create", path, tmp_path / "store", ok=(2,))
    done = run(augurpack, "create", "--json", "--resume", "--on-error=skip", path, tmp_path / "store", ok=(1,))
    assert b'"resumed":2' in done.stdout
    assert store_tree(tmp_path / "store")[1] == {b"a": b"2" * 5000, b"h": b"1" * 5000}
    reader.full_check(tmp_path / "store")
