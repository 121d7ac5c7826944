# SPDX-License-Identifier: Apache-2.0
"""The tree that a mount shows: SEMANTICS.md, Tree."""

import ctypes
import errno
import os
import random
import stat

import pytest

from odd_tree import MANY, walk
from program_runs import run
from skips import needs_root
from system_calls import errno_of, libc

pytestmark = needs_root


def test_same_tree(tree, mounted):
    """T1, T2, T4, T8, R1"""
    expected, found = walk(tree), walk(mounted)
    assert sorted(found) == sorted(expected)
    assert len({one.st_ino for one in found.values()}) == len(found)
    for path, want in expected.items():
        got = found[path]
        assert got.st_mode == want.st_mode, path
        assert got.st_mtime_ns == got.st_atime_ns == got.st_ctime_ns == want.st_mtime_ns, path
        assert got.st_nlink == 1, path
        whole, original = (os.path.join(os.fsencode(top), path) for top in (mounted, tree))
        if stat.S_ISREG(want.st_mode):
            assert got.st_size == want.st_size and got.st_blocks == -(-want.st_size // 512), path
            with open(whole, "rb") as left, open(original, "rb") as right:
                assert left.read() == right.read(), path
        elif stat.S_ISLNK(want.st_mode):
            assert os.readlink(whole) == os.readlink(original), path
            assert got.st_size == want.st_size, path


def test_links_lead_somewhere(tree, mounted):
    assert (mounted / "link").read_bytes() == (tree / "plain.JPEG").read_bytes()
    assert sorted(os.listdir(os.fsencode(mounted / "folder-link"))) == sorted(os.listdir(os.fsencode(tree / "raw")))
    assert errno_of(os.stat, mounted / "dangling") == errno.ENOENT


@pytest.mark.parametrize("options, owner, mask", [
    ([], (0, 0), 0), (["uid=12", "gid=34"], (12, 34), 0), (["umask=027"], (0, 0), 0o027), (["uid=5", "umask=0777"], (5, 0), 0o777)])
def test_owner_and_umask(room, mounts, point, tree, store, options, owner, mask):
    """T2, T3"""
    mounts.mount(store, point, *options)
    for path, want in walk(tree).items():
        got = os.lstat(os.path.join(os.fsencode(point), path))
        assert (got.st_uid, got.st_gid) == owner
        assert got.st_mode == (want.st_mode if stat.S_ISLNK(want.st_mode) else want.st_mode & ~mask), path


def test_inode_numbers_stay(room, mounts, point, store, mounted):
    """T5"""
    numbers = {path: one.st_ino for path, one in walk(mounted).items()}
    for options in ([], ["threads=1", "io=pread"]):
        mounts.start(store, point, *options)
        assert {path: one.st_ino for path, one in walk(point).items()} == numbers
        assert run(["umount", point]).returncode == 0


def test_listings_have_order_types_and_numbers(tree, mounted):
    """T6"""
    for folder in (".", "many", "raw", "modes"):
        items = list(os.scandir(os.fsencode(mounted / folder)))
        names = [item.name for item in items]
        assert names == sorted(names) and sorted(os.listdir(os.fsencode(tree / folder))) == names
        for item in items:
            want = os.lstat(item.path)
            assert item.inode() == want.st_ino
            assert (item.is_dir(follow_symlinks=False), item.is_file(follow_symlinks=False), item.is_symlink()) == (
                stat.S_ISDIR(want.st_mode), stat.S_ISREG(want.st_mode), stat.S_ISLNK(want.st_mode))


class Dirent(ctypes.Structure):
    _fields_ = [("d_ino", ctypes.c_uint64), ("d_off", ctypes.c_int64), ("d_reclen", ctypes.c_uint16), ("d_type", ctypes.c_uint8),
                ("d_name", ctypes.c_char * 256)]


libc.opendir.restype = ctypes.c_void_p
libc.opendir.argtypes = [ctypes.c_char_p]
libc.readdir.restype = ctypes.POINTER(Dirent)
libc.telldir.restype = ctypes.c_long
for function in (libc.readdir, libc.telldir, libc.rewinddir, libc.closedir):
    function.argtypes = [ctypes.c_void_p]
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]


class Directory:
    """A stream of opendir(3)."""

    def __init__(self, path):
        self.stream = libc.opendir(os.fsencode(path))
        assert self.stream

    def __enter__(self):
        return self

    def __exit__(self, *_):
        libc.closedir(self.stream)

    def next(self):
        item = libc.readdir(self.stream)
        return (item.contents.d_name, item.contents.d_ino, item.contents.d_type) if item else None

    def tell(self):
        return libc.telldir(self.stream)

    def seek(self, place):
        libc.seekdir(self.stream, place)

    def rewind(self):
        libc.rewinddir(self.stream)


def test_seek_and_tell_in_a_large_directory(room, mounts, point, store, mounted):
    """T6: places are good in another stream and another mount too."""
    with Directory(mounted / "many") as stream:
        places = []
        while True:
            place = stream.tell()
            item = stream.next()
            if item is None:
                break
            places.append((place, item))
        assert len(places) == MANY + 2
        assert [item[0] for _, item in places[:2]] == [b".", b".."]
        assert places[0][1][1] == os.stat(mounted / "many").st_ino and places[1][1][1] == os.stat(mounted).st_ino
        assert {item[2] for _, item in places[:2]} == {4} and {item[2] for _, item in places[2:]} == {8}
        for place, item in random.Random(1).sample(places, 300):
            stream.seek(place)
            assert stream.next() == item
        stream.rewind()
        assert stream.next() == places[0][1]
    mounts.mount(store, point)
    with Directory(point / "many") as stream:
        for place, item in random.Random(2).sample(places, 300):
            stream.seek(place)
            assert stream.next() == item


def test_directory_offset_past_the_end(mounted):
    with Directory(mounted / "many") as stream:
        stream.seek(MANY + 2)
        assert stream.next() is None
        stream.seek(2**40)
        assert stream.next() is None


def test_listing_is_the_same_when_it_comes_from_the_kernel(mounted):
    """C2"""
    first = os.listdir(mounted / "many")
    assert len(first) == MANY
    assert [os.listdir(mounted / "many") for _ in range(3)] == [first] * 3


def test_limits_of_names_and_paths(mounted):
    """T7"""
    assert errno_of(os.stat, mounted / ("n" * 256)) == errno.ENAMETOOLONG
    assert errno_of(os.stat, mounted / ("n" * 255)) == errno.ENOENT
    assert errno_of(os.stat, os.fsencode(mounted) + b"/." * 2500) == errno.ENAMETOOLONG
    assert os.pathconf(mounted, "PC_NAME_MAX") == 255
    for _ in range(3):
        assert errno_of(os.stat, mounted / "no such name") == errno.ENOENT
        assert errno_of(os.stat, mounted / "PLAIN.jpeg") == errno.ENOENT
        assert errno_of(os.stat, mounted / "plain.JPEG" / "below") == errno.ENOTDIR
        assert errno_of(os.listdir, mounted / "plain.JPEG") == errno.ENOTDIR
        assert errno_of((mounted / "raw").read_bytes) == errno.EISDIR


def test_statfs(tree, mounted):
    """T9"""
    numbers = os.statvfs(mounted)
    files = walk(tree)
    used = sum(one.st_size for one in files.values() if stat.S_ISREG(one.st_mode))
    assert numbers.f_blocks * numbers.f_frsize == -(-used // numbers.f_frsize) * numbers.f_frsize
    assert (numbers.f_bfree, numbers.f_bavail, numbers.f_ffree) == (0, 0, 0)
    assert numbers.f_files == len(files)
    assert numbers.f_namemax == 255
    assert numbers.f_flag & os.ST_RDONLY
