# SPDX-License-Identifier: Apache-2.0
"""What the tests of FORMAT.md share: stores read by either side as lists that can be compared, and odd good stores."""

import os
import stat
import subprocess

import pytest

import bad
import golden
import reader
from make_store import write_store
from store_content import File, Generation, Link, Section, in_path_order
from patch import Index

GOOD_NAMES = sorted(golden.GOLDEN)
BY_NAME = {case.name: case for case in bad.BAD}
# Each bad store in each version that can have its defect.
BAD_IN_VERSIONS = [(name, version) for name, case in BY_NAME.items() for version in case.versions]
VERSIONS = (1, 2)


def expected(tree):
    """[(path, mode, mtime, content)] in path order, the root first; content is bytes, a link's target or None."""
    listing = []
    for path, node in in_path_order(tree):
        if isinstance(node, File):
            listing.append((path, stat.S_IFREG | node.mode, node.mtime, node.data))
        elif isinstance(node, Link):
            listing.append((path, stat.S_IFLNK | node.mode, node.mtime, node.target))
        else:
            listing.append((path, stat.S_IFDIR | node.mode, node.mtime, None))
    return listing


def read_by_reader(path):
    listing = []
    with reader.Store(path) as store:
        for name, entry in store.walk():
            content = None
            if entry.is_file:
                content = store.read(entry)
            elif entry.is_symlink:
                content = store.link_target(entry)
            listing.append((name, entry.mode, entry.mtime, content))
    return listing


def read_by_rebuild(path):
    """What the catalogues of the own shards say, in path order: paths compared as bytes, '/' below every other byte."""
    rebuilt = reader.rebuild(path)
    listing = []
    for name, item in sorted(rebuilt.items.items(), key=lambda pair: pair[0].split(b"/")):
        content = None
        if stat.S_ISREG(item.mode):
            content = rebuilt.read(item)
        elif stat.S_ISLNK(item.mode):
            content = item.target
        listing.append((name, item.mode, item.mtime, content))
    return listing


def read_folder(path):
    """A folder of the file system in the same form."""
    top = os.fsencode(path)

    def one(full, name):
        status = os.lstat(full)
        content = None
        if stat.S_ISREG(status.st_mode):
            with open(full, "rb") as file:
                content = file.read()
        elif stat.S_ISLNK(status.st_mode):
            content = os.readlink(full)
        listing.append((name, status.st_mode, divmod(status.st_mtime_ns, 10**9), content))
        if stat.S_ISDIR(status.st_mode):
            for child in sorted(os.listdir(full)):
                one(os.path.join(full, child), name + b"/" + child if name else child)

    listing = []
    one(top, b"")
    return listing


def assert_same(left, right):
    """Lists as above, compared without printing megabytes."""

    def brief(listing):
        return [
            (path, oct(mode), mtime, None if content is None else len(content))
            for path, mode, mtime, content in listing
        ]

    assert brief(left) == brief(right)
    for one, other in zip(left, right):
        if one[3] != other[3]:
            pytest.fail(f"{one[0]!r}: the bytes differ")


def run(*arguments):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


def text_of(raw):
    return raw.decode("utf-8", "backslashreplace")


def write_foreign_absolute(folder, version):
    golden.adopted(golden.tree_of_tar(), absolute=True)(folder, version)
    return os.path.join(folder, "store")


def touch_tar(folder):
    store = golden.unpack("foreign_relative", folder)
    os.utime(os.path.join(folder, "images.tar"), (1, 1))
    return store


def write_two_root_pieces(folder, version):
    """A body of over 8,192 blocks, or 2,048, most of it a hole in an ignorable section."""
    store = os.path.join(folder, "store")
    hole = Section(500, b"first", 1, hole_bytes=(8192 if version == 1 else 2048) * 65536)
    write_store(store, [Generation(golden.plain(), sections=(hole,), reversed_layout=True)], version)
    assert Index(store).section(5)["bytes"] > 65536
    return store


def write_longest_path(folder, version):
    store = os.path.join(folder, "store")
    write_store(store, [Generation(golden.with_path_of(4095))], version)
    return store


def write_empty_section_within_another(folder, version):
    store = golden.unpack(golden.name_of("plain", version), folder)
    index = Index(store)
    assert index.section(4)["bytes"] == 0
    index.section(4)["offset"] = index.section(1)["offset"] + 64
    index.save()
    return store
