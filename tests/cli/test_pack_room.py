# SPDX-License-Identifier: Apache-2.0
"""What create says of a disk that is too small, and of patterns that match nothing."""

import os
import random
import tarfile

import pytest
from pack_support import assert_store_equals, run, store_tree, write
from test_pack_archive import add, make_tar

DISK_BYTES = 16 << 20


@pytest.fixture
def disk(tmp_path):
    """A file system of its own, small and empty."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a file system")
    path = tmp_path / "disk"
    path.mkdir()
    run("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", path)
    try:
        yield path
    finally:
        run("umount", path)


def large_folder(top):
    """More than the disk can take, in many files of different bytes."""
    rng = random.Random(5)
    for i in range(24):
        write(top / f"{i:02}", rng.randbytes(1 << 20))
    return top


def test_what_cannot_fit_is_known_before_it_is_packed(augurpack, disk, tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    with open(top / "sparse", "wb") as file:
        file.truncate(1 << 40)  # which a read would have to wait for
    done = run(augurpack, "create", top, disk / "store", ok=(2,))
    for words in (f"{disk}/store: there is room for 1", f"{top} has at least 1.0 TiB", "--no-room-check"):
        assert words in done.error
    assert not (disk / "store").exists()
    tar = make_tar(tmp_path / "x.tar", large_folder(tmp_path / "large"))
    done = run(augurpack, "create", tar, disk / "store", ok=(2,))
    assert f"{tar} has at least 24" in done.error
    assert os.listdir(disk) == []


def test_a_disk_that_gets_full_names_resume_which_goes_on(augurpack, disk, tmp_path):
    top = large_folder(tmp_path / "top")
    done = run(augurpack, "create", "--no-room-check", "--shard-size=1M", top, disk / "store", ok=(2,))
    assert "No space left on device: make room on that disk: the same command with --resume goes on from here" in done.error
    run("mount", "-o", "remount,size=64m", disk)
    done = run(augurpack, "create", "--resume", "--json", "--shard-size=1M", top, disk / "store")
    assert b'"resumed":0,' not in done.stdout
    assert_store_equals(disk / "store", top)


@pytest.mark.parametrize("words, left", [
    (["create", "--no-room-check", "top", "disk/store"], ": nothing is left of this run; the same command starts anew"),
    (["create", "--no-room-check", "--decode=npy+size=8", "top", "disk/store"], ": nothing is left of this run; the same command"),
    (["extract", "store", "disk/out"], ": the files that are there are whole; run it again with --force to write all"),
])
def test_a_disk_that_gets_full_names_a_cure_that_works(augurpack, disk, tmp_path, words, left):
    """One file that is larger than the disk leaves nothing to go on from."""
    write(tmp_path / "top" / "large", os.urandom(DISK_BYTES * 3 // 2))
    run(augurpack, "create", "--quiet", tmp_path / "top", tmp_path / "store")
    paths = [word if word.startswith("--") else tmp_path / word for word in words[1:]]
    done = run(augurpack, words[0], *paths, ok=(2,))
    assert f"No space left on device: make room on that disk{left}" in done.error, done.error
    if words[0] == "create":
        assert os.listdir(disk) == []
    run("mount", "-o", "remount,size=64m", disk)
    run(augurpack, words[0], *(["--force"] if words[0] == "extract" else []), *paths)


def test_files_with_the_same_bytes_fit_when_asked(augurpack, disk, tmp_path):
    for i in range(20):
        write(tmp_path / "top" / str(i), b"the same" * (1 << 17))
    assert "--no-room-check" in run(augurpack, "create", tmp_path / "top", disk / "store", ok=(2,)).error
    run(augurpack, "create", "--no-room-check", tmp_path / "top", disk / "store")
    assert_store_equals(disk / "store", tmp_path / "top")


def test_patterns_that_match_nothing(augurpack, tmp_path):
    top = tmp_path / "top"
    write(top / "d" / "a.jpg", b"1")
    os.symlink("a.jpg", top / "d" / "link")
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        add(tar, "d", type=tarfile.DIRTYPE)
        add(tar, "d/a.jpg", b"1")
    for source in (top, tmp_path / "x.tar"):
        done = run(augurpack, "create", "--include=*.JPEG", "--include=d/", source, tmp_path / "store", ok=(2,))
        assert f"{source}: no file in it matches --include" in done.error
        assert not (tmp_path / "store").exists()
        run(augurpack, "create", "--force", "--include=*.JPEG", "--include=*.jpg", source, tmp_path / "kept")
        assert store_tree(tmp_path / "kept")[1] == {b"d/a.jpg": b"1"}
        done = run(augurpack, "append", "--include=*.JPEG", source, tmp_path / "kept", ok=(2,))
        assert "no file in it matches --include" in done.error
    run(augurpack, "create", "--include=link", top, tmp_path / "linked")
    assert b"d/link" in store_tree(tmp_path / "linked")[0]
    (tmp_path / "nothing").mkdir()
    run(augurpack, "create", tmp_path / "nothing", tmp_path / "empty")
    assert store_tree(tmp_path / "empty")[1] == {}
