# SPDX-License-Identifier: Apache-2.0
"""augurpack adopt and create of Parquet and Arrow files, as datasets of Hugging Face have them: written by pyarrow and datasets, and by
parquet_writer.py where a file must be wrong."""

import os
import random
import struct
import sys

import arrow_writer as aw
import parquet_writer as pq
import pytest
from adopt_support import adopted, copied, refused, written_by_stock
from container_files import PNG, jpeg
from pack_support import run, write

IMAGES = [jpeg(i, 300 + 900 * i) for i in range(9)]
ROWS = [(image, b"%d.jpg" % i, i % 2) for i, image in enumerate(IMAGES)]
TREE = {(b"cat", b"dog")[i % 2] + b"/%d.jpg" % i: image for i, image in enumerate(IMAGES)}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("codec", [pq.NONE, pq.GZIP])
def test_pages(augurpack, tmp_path, version, dictionary, codec):
    """Two groups of rows of two pages. Of a dictionary that is not compressed the images are where they stand, too."""
    groups = [pq.table(ROWS[:4], codec, version, dictionary), pq.table(ROWS[4:], codec, version, dictionary)]
    path = write(tmp_path / "x.parquet", pq.parquet(groups))
    assert copied(augurpack, path) == TREE
    if codec == pq.NONE:
        assert adopted(augurpack, path) == TREE
    else:
        assert "column 'image.bytes': is compressed (GZIP), its images are not stored as they are" in refused(augurpack, path)


def test_options_and_rows_without(augurpack, tmp_path):
    """Rows without an image, a name or a label; names of the user's own; paths of another machine."""
    rows = [(IMAGES[0], b"/home/a/b c/0.jpg", 1), (IMAGES[1], b"https://host/d/1.jpg", None), (IMAGES[2], None, -1), (None, None, 1),
            (PNG, b"d/4", 0)]  # fmt: skip
    path = write(tmp_path / "x.parquet", pq.parquet([pq.table(rows)]))
    wanted = {b"dog/0.jpg": IMAGES[0], b"1.jpg": IMAGES[1], b"00000002.jpg": IMAGES[2], b"cat/d_4.png": PNG}
    assert adopted(augurpack, path) == wanted == copied(augurpack, path)
    names = write(tmp_path / "names", b"0:x\n1:y\n")
    path = write(tmp_path / "y.parquet", pq.parquet([pq.table(ROWS[:3])]))
    named = {b"x/0.jpg": IMAGES[0], b"y/1.jpg": IMAGES[1], b"x/2.jpg": IMAGES[2]}
    assert adopted(augurpack, path, f"--folders-from={names}") == named == copied(augurpack, path, f"--folders-from={names}")
    path.rename(tmp_path / "z.parquet")
    assert set(copied(augurpack, tmp_path / "z.parquet", "--names-from=label", "--include=dog/*")) == {b"dog/1.jpg"}
    assert "has no names in 'id' (its columns are 'image.bytes', 'image.path', 'label')" in refused(augurpack, tmp_path / "z.parquet",
                                                                                                    "--names-from=id")  # fmt: skip


def test_the_only_class_label_is_the_label(augurpack, tmp_path):
    """Whatever it is called; of two none is."""
    label = {"names": ["cat", "dog"], "_type": "ClassLabel"}
    schema = [*pq.SCHEMA[:-1], pq.element("animal", _1=pq.INT64, _3=pq.OPTIONAL)]
    for number, features in enumerate([{"animal": label}, {"animal": label, "other": label}]):
        data = pq.parquet([pq.table(ROWS)], schema=schema, features={"info": {"features": features}})
        files = copied(augurpack, write(tmp_path / f"{number}.parquet", data))
        assert files == (TREE if number == 0 else {b"%d.jpg" % i: image for i, image in enumerate(IMAGES)})


def test_an_empty_table(augurpack, tmp_path):
    path = write(tmp_path / "x.parquet", pq.parquet([], row_counts=[]))
    assert adopted(augurpack, path) == {} == copied(augurpack, path)


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """Files of pyarrow and datasets, and what these read of them."""
    packages = os.environ.get("AUGUR_EXAMPLES")
    if not packages:
        pytest.skip("AUGUR_EXAMPLES is not set: it is what `packaging/venv.sh examples` prints")
    folder = tmp_path_factory.mktemp("stock")
    environment = {"PYTHONPATH": packages, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder)}
    return folder, written_by_stock(sys.executable, "hugging_face_files.py", folder, **environment)


def test_files_of_stock_writers(augurpack, stock, tmp_path):
    """All samples and labels are those that pyarrow or datasets reads; uncompressed files can be adopted as well."""
    folder, wanted = stock
    assert len(wanted) >= 10
    for name, expected in wanted.items():
        path = tmp_path / name
        os.link(folder / name, path)
        tree = {file.encode(): bytes.fromhex(image) for file, image in expected["files"].items()}
        assert len(tree) == expected["rows"], name
        assert copied(augurpack, path) == tree, name
        if expected["adopts"]:
            assert adopted(augurpack, path) == tree, name
        else:
            assert "compressed" in refused(augurpack, path), name
        truncated = write(tmp_path / "cut", path.read_bytes()[:-5])
        assert f"{truncated}: " in run(augurpack, "create", truncated, tmp_path / "none", ok=(2,)).error


def test_lz4_is_refused(augurpack, stock, tmp_path):
    folder, _ = stock
    for name, cause in (("lz4.parquet", "is compressed by LZ4"), ("brotli.parquet", "is compressed by BROTLI"), ("lz4.arrow", "LZ4")):
        done = run(augurpack, "create", folder / "refused" / name, tmp_path / "store", ok=(2,))
        assert cause in done.error and name in done.error


@pytest.mark.parametrize("text", ['{"info": %s}', '{"info": {"features": {"label": {"_type": %s}}}}'])
def test_features_that_nest(augurpack, tmp_path, text):
    """A description that nests without an end is none: the stack of a process has one."""
    features = text % ("[" * 200_000 + "]" * 200_000)
    tree = {b"%06d/%d.jpg" % (i % 2, i): image for i, image in enumerate(IMAGES)}
    path = write(tmp_path / "x.parquet", pq.parquet([pq.table(ROWS)], features=features))
    assert adopted(augurpack, path) == tree == copied(augurpack, path)
    path = write(tmp_path / "x.arrow", aw.arrow(aw.schema(features=features), aw.batch(ROWS)))
    assert adopted(augurpack, path) == tree == copied(augurpack, path)


GOOD = pq.parquet([pq.table(ROWS)])


def with_pages(images=None, paths=None, labels=None, **fields):
    """One group of rows in which the pages of a column are others. `fields` are those of the description of images."""
    columns = pq.table(ROWS)
    for at, pages in enumerate((images, paths, labels)):
        if pages is not None:
            columns[at] = pq.chunk(pages, len(ROWS), pq.NONE, **(fields if at == 0 else {}))
    return pq.parquet([columns])


def image_page(**head):
    return pq.page([row[0] for row in ROWS], 2, **head)


def values_page(body, values=9, encoding=pq.PLAIN):
    return pq.compact(pq.Struct({1: 0, 2: len(body), 3: len(body), 5: pq.Struct({1: values, 2: encoding, 3: 3, 4: 3})}))[1] + body


def levels(number=2, count=9):
    data = pq.runs([number] * count, 2)
    return struct.pack("<I", len(data)) + data


def with_schema(*elements, root=2):
    return pq.parquet([pq.table(ROWS)], schema=[pq.element("schema", _5=root), *elements])


NESTED = [pq.element(f"g{i}", _3=1, _5=1) for i in range(200)]
LISTS = b"\x29\x19" + b"\x19" * 60000

BAD = {
    "no tail": (GOOD[:-1], "does not end as a Parquet file"),
    "cut": (GOOD[:2000], "does not end as a Parquet file"),
    "two magics": (b"PAR1PAR1", "ends within its beginning"),
    "footer length": (GOOD[:-8] + struct.pack("<I", len(GOOD)) + b"PAR1", "which it cannot have"),
    "footer length 0": (GOOD[:-8] + struct.pack("<I", 0) + b"PAR1", "its description is broken"),
    "footer cut": (pq.parquet([pq.table(ROWS)], footer=lambda text: text[:-20]), "its description is broken"),
    "footer garbage": (pq.parquet([pq.table(ROWS)], footer=lambda text: b"\x15" + text), "vectors of its schema"),
    "footer of lists": (pq.parquet([pq.table(ROWS)], footer=lambda text: LISTS), "its description is broken"),
    "schema is no tree": (with_schema(*pq.SCHEMA[1:], root=3), "its schema is no tree"),
    "schema ends early": (with_schema(*pq.SCHEMA[1:], root=1), "its schema is no tree"),
    "schema nests": (with_schema(*NESTED, *pq.SCHEMA[2:3], root=1), "its schema is no tree"),
    "columns": (pq.parquet([pq.table(ROWS)[:2]]), "has 2 columns, and its schema 3"),
    "rows": (pq.parquet([pq.table(ROWS)], more={3: pq.Long(8)}), "the groups of its rows have 9, and it has 8"),
    "a row more": (pq.parquet([pq.table(ROWS)], row_counts=[10]), "it has less values than rows"),
    "a row less": (pq.parquet([pq.table(ROWS)], row_counts=[8]), "values more than rows"),
    "rows beyond the file": (pq.parquet([pq.table(ROWS)], row_counts=[1 << 50]), "it has more rows than bytes"),
    "chunk leaves": (with_pages(image_page(), _9=pq.Long(1 << 40)), "a column leaves the file"),
    "chunk below": (with_pages(image_page(), _9=pq.Long(-4)), "a column leaves the file"),
    "chunk short": (with_pages(image_page(), _7=pq.Long(100)), "leaves its column"),
    "chunk elsewhere": (with_pages(image_page(), _9=pq.Long(0)), "column 'image.bytes': "),
    "page of no bytes": (with_pages(image_page(_3=-1)), "leaves its column"),
    "page too long": (with_pages(image_page(_3=1 << 30)), "leaves its column"),
    "page of two sizes": (with_pages(image_page(_2=5)), "has two sizes"),
    "page crc": (with_pages(image_page(_4=12345)), "does not match its checksum"),
    "page of many values": (with_pages(image_page(_5=pq.Struct({1: 10, 2: 0}))), "a page has too many values"),
    "page of few values": (with_pages(image_page(_5=pq.Struct({1: 8, 2: 0}))), "its pages end, and 1 values are missing"),
    "encoding": (with_pages(image_page(_5=pq.Struct({1: 9, 2: 6}))), "has Parquet's encoding 6"),
    "levels too long": (with_pages(values_page(struct.pack("<I", 99) + b"?")), "smaller than its levels"),
    "levels missing": (with_pages(values_page(struct.pack("<I", 0))), "the levels of a page are broken"),
    "levels too high": (with_pages(values_page(levels(3) + pq.plain(IMAGES))), "the levels of a page are broken"),
    "value leaves": (with_pages(values_page(levels() + struct.pack("<I", 1 << 31) + b"x")), "ends within a value"),
    "values missing": (with_pages(values_page(levels() + pq.plain(IMAGES[:8]))), "ends within a value"),
    "no dictionary": (with_pages(values_page(levels() + bytes([8]) + pq.runs([0] * 9, 8), encoding=8)), "is not in its dictionary"),
    "dictionary id": (with_pages(pq.dictionary_page([PNG]) + values_page(levels() + bytes([8]) + pq.runs([1] * 9, 8), encoding=8)),
                      "is not in its dictionary"),
    "dictionary count": (with_pages(pq.dictionary_page([PNG]).replace(b"\x15\x02\x15\x00", b"\x15\x04\x15\x00") + image_page()),
                         "ends within a value"),
    "width": (with_pages(values_page(levels() + bytes([77]) + bytes(90), encoding=8)), "is not in its dictionary"),
    "labels": (with_pages(labels=values_page(struct.pack("<I", 2) + b"\x12\x01" + bytes(71))),
               "column 'label': a page ends within a value"),
    "label without a name": (pq.parquet([pq.table([(PNG, None, 2)])]), "row 0: label 2 has no name"),
    "no image": (pq.parquet([pq.table([(b"text", None, 1)])]), "row 0: is no JPEG"),
    "path and no bytes": (pq.parquet([pq.table([(None, b"x.jpg", 1)])]), "row 0: has the path 'x.jpg' and no bytes"),
    "name": (pq.parquet([pq.table([(PNG, b"a/../b", None)])]), "has a '..' in it"),
    "no column": (with_schema(pq.element("a", _1=1, _3=1), pq.element("b", _1=2, _3=1), pq.element("c", _1=2, _3=1), root=3),
                  "no column has image files (its columns are 'a', 'b', 'c')"),
    "two images": (with_schema(pq.element("a", _1=6), pq.element("b", _1=6), pq.element("c", _1=2), root=3),
                   "several columns may have the image"),
    "encrypted": (pq.parquet([pq.table(ROWS)], more={8: pq.Struct({})}), "is encrypted"),
    "codec": (with_pages(image_page(), _4=5), "is compressed by LZ4"),
    "a page that swells": (pq.parquet([[pq.chunk(image_page(_2=1 << 30), 9, pq.GZIP), *pq.table(ROWS)[1:]]]), "cannot be 1073741824 unpacked"),
    "gzip damaged": (pq.parquet([[pq.chunk(image_page(), 9, pq.GZIP), *pq.table(ROWS)[1:]]]), "cannot be unpacked"),
}  # fmt: skip
BAD["footer garbage"] = (BAD["footer garbage"][0], "x.parquet: ")


@pytest.mark.parametrize("data, cause", BAD.values(), ids=BAD)
def test_bad_files(augurpack, tmp_path, data, cause):
    path = write(tmp_path / "x.parquet", data)
    for command in ("create",) if "unpacked" in cause else ("create", "adopt"):
        assert cause in refused(augurpack, path, command=command)


def test_random_damage(augurpack, tmp_path):
    """Whatever is wrong, a run ends by itself, and says what is wrong or takes bytes of the file."""
    rng = random.Random(5)
    good = pq.parquet([pq.table(ROWS[:3], pq.GZIP, 2, True), pq.table(ROWS[3:], pq.NONE, 1)])
    refusals = 0
    for number in range(30):
        data = bytearray(good)
        for _ in range(rng.choice([1, 1, 4])):
            at = rng.choice([rng.randrange(len(data)), rng.randrange(len(data) - 600, len(data))])
            data[at] ^= 1 << rng.randrange(8)
        path = write(tmp_path / f"{number}.parquet", bytes(data))
        done = run(augurpack, "create", "-q", path, tmp_path / f"{number}", ok=(0, 2))
        refusals += done.returncode == 2
        assert done.returncode == 0 or done.error.startswith(f"augurpack: {path}: ")
    assert refusals > 5


def swapped(at, place):
    """The places of buffers, but that of one."""
    return lambda places: aw.Structs([place if i == at else right for i, right in enumerate(places)])


def changed(at, data):
    def change(buffers):
        buffers[at] = data

    return change


def ends_of(*ends):
    return changed(2, struct.pack(f"<{len(ends)}i", *ends))


SCHEMA, BATCH = aw.schema(), aw.batch(ROWS)

BAD_ARROW = {
    "cut": (aw.table(ROWS)[:-5], "ends within a message"),
    "cut in a body": (aw.table(ROWS)[:-400], "ends within a message"),
    "cut in a head": (SCHEMA[:60], "ends within a message"),
    "no end": (aw.arrow(SCHEMA, BATCH, end=b""), "ends within a message"),
    "more behind": (aw.table(ROWS) + b"more", "something follows its end"),
    "no schema": (aw.arrow(SCHEMA[:8] + bytes(len(SCHEMA) - 8)), "x.arrow: "),
    "second schema": (aw.arrow(SCHEMA, SCHEMA), "has a second schema"),
    "a head of nothing": (aw.arrow(SCHEMA, struct.pack("<iI", -1, 64) + bytes(64)), "is broken"),
    "a head of garbage": (aw.arrow(SCHEMA, struct.pack("<iI", -1, 64) + b"\xff" * 64), "is broken"),
    "a long head": (aw.arrow(SCHEMA, struct.pack("<iI", -1, 1 << 31)), "ends within a message"),
    "a long body": (aw.arrow(SCHEMA, aw.batch(ROWS, _3=("q", 1 << 40))), "ends within a message"),
    "a body below": (aw.arrow(SCHEMA, aw.batch(ROWS, _3=("q", -8))), "ends within a message"),
    "rows": (aw.arrow(SCHEMA, aw.batch(ROWS, count=1 << 40)), "rows in less bytes"),
    "rows below": (aw.arrow(SCHEMA, aw.batch(ROWS, count=-1)), "rows in less bytes"),
    "a row more": (aw.arrow(SCHEMA, aw.batch(ROWS, count=10)), "a batch has less values than rows"),
    "rows of nodes": (aw.arrow(SCHEMA, aw.batch(ROWS, nodes=aw.Structs([(8, 0)] * 4))), "a batch has less values than rows"),
    "nodes": (aw.arrow(SCHEMA, aw.batch(ROWS, nodes=aw.Structs([(9, 0)] * 3))), "has other buffers than its schema says"),
    "buffers": (aw.arrow(SCHEMA, aw.batch(ROWS, places=lambda p: aw.Structs(p[:-1]))), "has other buffers than its schema says"),
    "buffer leaves": (aw.arrow(SCHEMA, aw.batch(ROWS, places=swapped(3, (0, 1 << 30)))), "a buffer leaves its batch"),
    "buffer below": (aw.arrow(SCHEMA, aw.batch(ROWS, places=swapped(3, (-64, 64)))), "a buffer leaves its batch"),
    "buffer of negative size": (aw.arrow(SCHEMA, aw.batch(ROWS, places=swapped(2, (8, -8)))), "a buffer leaves its batch"),
    "validity short": (aw.arrow(SCHEMA, aw.batch(ROWS, change=changed(1, b"\xff"))), "shorter than its rows"),
    "offsets short": (aw.arrow(SCHEMA, aw.batch(ROWS, change=ends_of(0, 1, 2))), "shorter than its rows"),
    "offsets not in order": (aw.arrow(SCHEMA, aw.batch(ROWS, change=ends_of(*range(4000, 3990, -1)))), "are not in order"),
    "offsets below": (aw.arrow(SCHEMA, aw.batch(ROWS, change=ends_of(-4, *range(9)))), "are not in order"),
    "offsets leave": (aw.arrow(SCHEMA, aw.batch(ROWS, change=ends_of(*range(0, 10 << 24, 1 << 24)))), "are not in order"),
    "values short": (aw.arrow(SCHEMA, aw.batch(ROWS, change=changed(3, b"")), aw.batch(ROWS)), "are not in order"),
    "numbers short": (aw.arrow(SCHEMA, aw.batch(ROWS, change=changed(8, bytes(71)))), "shorter than its rows"),
    "no image": (aw.table([(b"text", None, 1)]), "row 0: is no JPEG"),
    "path and no bytes": (aw.table([(None, b"x.jpg", 1)]), "row 0: has the path 'x.jpg' and no bytes"),
    "label without a name": (aw.table([(PNG, None, 7)]), "row 0: label 7 has no name"),
    "no column": (aw.arrow(aw.schema(aw.FIELDS[1:])), "no column has image files (its columns are 'label')"),
    "two images": (aw.arrow(aw.schema([*aw.FIELDS, *aw.FIELDS])), "several columns may have the image"),
    "another type": (aw.arrow(aw.schema([*aw.FIELDS, aw.field("x", 23)])), "has a column of Arrow's type 23"),
    "a buffer that swells": (aw.arrow(SCHEMA, aw.batch(ROWS, change=changed(8, struct.pack("<q", 1 << 30) + bytes(64)), packed=True)),
                             "cannot be 1073741824 unpacked"),
    "other byte order": (aw.arrow(aw.schema(_0=("h", 1))), "of the other byte order"),
    "file cut": (b"ARROW1\0\0" + aw.table(ROWS) + b"ARROW0", "does not end as an Arrow file"),
    "file without directory": (b"ARROW1\0\0" + aw.table(ROWS), "has no directory at its end"),
}  # fmt: skip


@pytest.mark.parametrize("data, cause", BAD_ARROW.values(), ids=BAD_ARROW)
def test_bad_arrow_files(augurpack, tmp_path, data, cause):
    path = write(tmp_path / "x.arrow", data)
    for command in ("create", "adopt"):
        assert cause in refused(augurpack, path, command=command)


def test_offsets_that_lead_to_themselves(augurpack, tmp_path):
    """A word of the schema that is an offset of 0 leads to itself. A run ends, whatever it makes of it."""
    for at in range(8, len(SCHEMA) - 3, 20):
        data = bytearray(SCHEMA)
        struct.pack_into("<I", data, at, 0)
        path = write(tmp_path / "x.arrow", aw.arrow(bytes(data), BATCH))
        done = run(augurpack, "create", "-q", "--force", path, tmp_path / "store", ok=(0, 2))
        assert done.returncode == 0 or f"augurpack: {path}: " in done.error


def test_arrow(augurpack, tmp_path):
    """Batches, a message from before there was a marker, rows without an image or a name."""
    rows = [(IMAGES[0], None, 1), (None, None, 1), (PNG, b"a/b.png", None)]
    old = aw.batch(rows)[4:]
    path = write(tmp_path / "x.arrow", aw.arrow(SCHEMA, BATCH, aw.batch([]), old))
    wanted = TREE | {b"dog/00000009.jpg": IMAGES[0], b"a/b.png": PNG}
    assert adopted(augurpack, path) == wanted == copied(augurpack, path)
