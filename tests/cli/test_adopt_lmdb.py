# SPDX-License-Identifier: Apache-2.0
"""augurpack adopt: the images within LMDB databases."""

import json
import pickle
import random
import struct

import pytest
from adopt_support import files_of, refused
from container_files import PNG, field, jpeg
from lmdb_writer import DUPSORT, database
from pack_support import run, write

PAGE = 4096


def test_a_database_that_was_changed_often(augurpack, tmp_path):
    """Values within pages and on pages of their own, several levels, and pages that are free again."""
    rng = random.Random(3)
    wanted = {}
    with database(tmp_path / "data.mdb") as data:
        for number in range(12):
            new = {b"%08x" % rng.randrange(1500): jpeg(f"{number} {i}", rng.choice([20, 500, 1900, 2100, 9000])) for i in range(150)}
            gone = rng.sample(sorted(wanted), len(wanted) // 10)
            wanted = {key: value for key, value in wanted.items() if key not in gone} | new
            data.transaction(new.items(), [key for key in gone if key not in new])
        data.transaction([(b"large", jpeg("large", 3 << 20)), (b"__len__", pickle.dumps(7)), (b"__keys__", pickle.dumps([b"1"]))])
    wanted[b"large"] = jpeg("large", 3 << 20)
    summary = json.loads(run(augurpack, "adopt", "--json", tmp_path / "data.mdb", tmp_path / "store").stdout)
    assert summary["stored_bytes"] == 0
    assert files_of(tmp_path / "store") == {key + b".jpg": value for key, value in wanted.items()}
    run(augurpack, "verify", tmp_path / "store")


def test_keys_and_the_datum_of_caffe(augurpack, tmp_path):
    def datum(image, label):
        return field(1, 3) + field(2, 5) + field(3, 5) + field(4, image) + field(5, label) + field(7, 1)

    with database(tmp_path / "x") as data:
        data.transaction([(b"00_dog/1.jpg", datum(jpeg(1), 4)), (b"01_cat.jpg", datum(jpeg(2), 11)), (struct.pack("<I", 7), PNG),
                          (b"d/raw", jpeg(3)), (b"test", datum(jpeg(4), -1))])  # fmt: skip
    labels = write(tmp_path / "labels", b"4:dog\n11:cat\n")
    run(augurpack, "adopt", tmp_path / "x", tmp_path / "numbers")
    rest = {b"00000000.png": PNG, b"d/raw.jpg": jpeg(3), b"test.jpg": jpeg(4)}
    assert files_of(tmp_path / "numbers") == {b"000004/00_dog_1.jpg": jpeg(1), b"000011/01_cat.jpg": jpeg(2)} | rest
    run(augurpack, "adopt", f"--folders-from={labels}", tmp_path / "x", tmp_path / "names")
    assert files_of(tmp_path / "names") == {b"dog/00_dog_1.jpg": jpeg(1), b"cat/01_cat.jpg": jpeg(2)} | rest


def test_an_empty_database(augurpack, tmp_path):
    with database(tmp_path / "x") as data:
        data.transaction()
    run(augurpack, "adopt", tmp_path / "x", tmp_path / "store")
    assert files_of(tmp_path / "store") == {}


def test_a_database_within_the_database(augurpack, tmp_path):
    """Each has a tree of its own; the main one has their names among its values."""
    images = {b"%04d" % i: jpeg(i, 10 + 70 * i) for i in range(60)}
    with database(tmp_path / "x") as data:
        data.transaction(images.items(), name=b"images")
        data.transaction([(b"0000", b"text")], name=b"labels")
        data.transaction(flags=DUPSORT, name=b"many")
        data.transaction([(b"main", PNG)])
    for command in ("adopt", "create"):
        run(augurpack, command, "--db=images", tmp_path / "x", tmp_path / command)
        assert files_of(tmp_path / command) == {key + b".jpg": value for key, value in images.items()}
    assert "key '0000': is no JPEG" in refused(augurpack, tmp_path / "x", "--db=labels")
    assert "several values of one key" in refused(augurpack, tmp_path / "x", "--db=many")
    assert "has no database 'image' (it has 'images', 'labels', 'many')" in refused(augurpack, tmp_path / "x", "--db=image")
    assert "is a database within the database" in refused(augurpack, tmp_path / "x")


def test_databases_of_other_forms(augurpack, tmp_path):
    with database(tmp_path / "named") as data:
        data.transaction([(b"1", PNG)], name=b"images")
    assert "'images' is a database within the database: --db=images takes it" in refused(augurpack, tmp_path / "named")
    with database(tmp_path / "many") as data:
        data.transaction(flags=DUPSORT)
    assert "several values of one key" in refused(augurpack, tmp_path / "many")
    for value in (pickle.dumps((jpeg(1), 3)), b"", field(4, bytes(784)) + field(5, 1)):
        path = tmp_path / f"value{len(value)}"
        with database(path) as data:
            data.transaction([(b"key", value)])
        assert "key 'key': is no JPEG" in refused(augurpack, path)


class Pages:
    """The bytes of a database, whose numbers can be changed."""

    def __init__(self, data):
        self.data = bytearray(data)
        metas = [(self.get("<Q", meta * PAGE + 144), meta * PAGE) for meta in (0, 1)]
        self.meta = max(metas)[1]
        self.root = self.get("<Q", self.meta + 128) * PAGE
        self.leaf = self.child(self.root) * PAGE  # the first one
        self.node = self.leaf + self.get("<H", self.leaf + 16)

    def get(self, form, at):
        return struct.unpack_from(form, self.data, at)[0]

    def put(self, form, at, value):
        struct.pack_into(form, self.data, at, value)

    def child(self, page):
        node = page + self.get("<H", page + 16)
        return self.get("<I", node) | self.get("<H", node + 4) << 32


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("lmdb") / "data.mdb"
    with database(path) as data:
        data.transaction([(b"%06d" % i, jpeg(i, 2100)) for i in range(300)])
    return path.read_bytes()


def overflow_of(pages):
    """Where the first node has the number of its value's page."""
    return pages.node + 8 + pages.get("<H", pages.node + 6)


BAD = {
    "version": (lambda p: p.put("<I", p.meta + 20, 2), "has LMDB's data version 2"),
    "magic of the second": (lambda p: p.put("<I", PAGE + 16, 0), "it has no description at byte 4096"),
    "page size": (lambda p: p.put("<I", 40, 4097), "it has pages of 4097 bytes"),
    "page size huge": (lambda p: p.put("<I", 40, 1 << 31), "it has pages of 2147483648 bytes"),
    "other page size": (lambda p: p.put("<I", PAGE + 40, 8192), "pages of other sizes"),
    "root behind the end": (lambda p: p.put("<Q", p.meta + 128, 1 << 40), "its tree leads to page 1099511627776"),
    "root is a description": (lambda p: p.put("<Q", p.meta + 128, 0), "page 0 is broken"),
    "root is a value": (lambda p: p.put("<Q", p.meta + 128, p.get("<Q", overflow_of(p))), "is broken"),
    "loop": (lambda p: p.put("<I", p.root + p.get("<H", p.root + 16), p.root // PAGE), "twice"),
    "one leaf twice": (lambda p: p.put("<I", p.root + p.get("<H", p.root + 18), p.child(p.root)), "twice"),
    "child far away": (lambda p: p.put("<H", p.root + p.get("<H", p.root + 16) + 4, 9), "its tree leads to page"),
    "number of a page": (lambda p: p.put("<Q", p.leaf, 5), "has another number"),
    "kind of a page": (lambda p: p.put("<H", p.leaf + 10, 0x20), "is broken"),
    "lower": (lambda p: p.put("<H", p.leaf + 12, 60_000), "is broken"),
    "node in the header": (lambda p: p.put("<H", p.leaf + 16, 3), "is broken"),
    "node behind the page": (lambda p: p.put("<H", p.leaf + 16, PAGE - 4), "is broken"),
    "key leaves its page": (lambda p: p.put("<H", p.node + 6, 60_000), "is broken"),
    "value leaves its page": (lambda p: p.put("<H", p.node + 4, 0), "leaves its page"),
    "value of 4 GiB": (lambda p: p.put("<I", p.node, (1 << 32) - 1), "is over 1 GiB"),
    "value too long": (lambda p: p.put("<I", p.node, 1 << 29), "its tree leads to page"),
    "value's page behind the end": (lambda p: p.put("<Q", overflow_of(p), (1 << 64) - 1), "its tree leads to page"),
    "value's page is a leaf": (lambda p: p.put("<Q", overflow_of(p), p.leaf // PAGE), "twice"),
    "many values": (lambda p: p.put("<H", p.node + 4, 4), "has several values"),
    "cut": (lambda p: p.data.__delitem__(slice(len(p.data) - 8 * PAGE, None)), "its tree leads to page"),
    "cut in the second page": (lambda p: p.data.__delitem__(slice(PAGE + 100, None)), "it ends within its second page"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files(augurpack, tmp_path, good, name):
    damage, cause = BAD[name]
    pages = Pages(good)
    damage(pages)
    assert cause in refused(augurpack, write(tmp_path / "x.mdb", bytes(pages.data)))


def test_random_damage(augurpack, tmp_path, good):
    """Whatever is damaged, the run ends by itself, and only bytes of the file are shown."""
    rng = random.Random(6)
    ends = set()
    for number in range(25):
        pages = Pages(good)
        tree = [pages.meta, pages.root, pages.leaf]
        for _ in range(rng.choice([1, 3])):
            pages.data[rng.choice(tree) + rng.randrange(0, PAGE if number % 2 else 200)] ^= 1 << rng.randrange(8)
        path = write(tmp_path / f"{number}.mdb", bytes(pages.data))
        done = run(augurpack, "adopt", "--quiet", "--on-duplicate=last", path, tmp_path / f"{number}", ok=(0, 2))
        ends.add(done.returncode)
        if done.returncode == 0:
            assert all(image in pages.data for image in files_of(tmp_path / f"{number}").values())
        else:
            assert done.error.startswith("augurpack: ")
    assert ends == {0, 2}
