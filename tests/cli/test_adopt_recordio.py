# SPDX-License-Identifier: Apache-2.0
"""augurpack adopt: the images within RecordIO files of MXNet."""

import json
import struct

import pytest
from adopt_support import cause_of, files_of, refused
from container_files import PNG, RECORDIO_MAGIC, image_record, jpeg, recordio, recordio_part
from pack_support import reader, run, store_entries, write


def test_folders_by_label(augurpack, tmp_path):
    records = [image_record(i, i % 3, jpeg(i)) for i in range(9)]
    path = write(tmp_path / "x.rec", recordio(*records))
    summary = json.loads(run(augurpack, "adopt", "--json", path, tmp_path / "store").stdout)
    assert summary["stored_bytes"] == 0
    assert files_of(tmp_path / "store") == {b"%06d/%08d.jpg" % (i % 3, i): jpeg(i) for i in range(9)}
    with reader.Store(tmp_path / "store") as store:
        assert store_entries(store)[b"000001/00000004.jpg"].offset == path.read_bytes().index(jpeg(4))
    names = write(tmp_path / "names", b"a\nb\nc\n")
    run(augurpack, "adopt", f"--folders-from={names}", path, tmp_path / "named")
    assert set(files_of(tmp_path / "named")) == {b"%s/%08d.jpg" % (b"abc"[i % 3 : i % 3 + 1], i) for i in range(9)}


def test_labels_that_are_no_class(augurpack, tmp_path):
    labels = [[2.0], [0.5, 1.5], 0.5, -1, float("nan"), float("inf"), 3.0]
    write(tmp_path / "x.rec", recordio(*(image_record(i, label, PNG) for i, label in enumerate(labels))))
    run(augurpack, "adopt", tmp_path / "x.rec", tmp_path / "store")
    assert set(files_of(tmp_path / "store")) == {b"000002/00000000.png", *(b"%08d.png" % i for i in range(1, 6)),
                                                 b"000003/00000006.png"}  # fmt: skip


def test_paths_of_the_list(augurpack, tmp_path):
    """The tree is the folder that im2rec was given, whatever the order of the records."""
    path = write(tmp_path / "x.rec", recordio(*(image_record(10 - i, 1, jpeg(i)) for i in range(4)), image_record(99, 7, PNG)))
    write(tmp_path / "x.lst", b"".join(b"%d\t1.000000\tdog/%d.JPEG\n" % (10 - i, i) for i in range(4)))
    run(augurpack, "adopt", path, tmp_path / "store")
    assert files_of(tmp_path / "store") == {b"dog/%d.JPEG" % i: jpeg(i) for i in range(4)} | {b"000007/00000004.png": PNG}


def test_records_in_parts_are_copied(augurpack, tmp_path):
    """A magic number at a whole word of the record splits it. The others stay where they are."""
    images = [jpeg(0, 3002) + RECORDIO_MAGIC + b"?" * 30,
              b"\xff\xd8\xff\xe0" + RECORDIO_MAGIC + b"1234" + RECORDIO_MAGIC * 2 + b"end",
              b"\xff\xd8\xff\xe0" + b"x" + RECORDIO_MAGIC + b"at no whole word", jpeg(3)]  # fmt: skip
    data = recordio(*(image_record(i, 0, image) for i, image in enumerate(images)))
    assert data.count(struct.pack("<I", 1 << 29 | 28)) == 1  # one has parts
    path = write(tmp_path / "x.rec", data)
    summary = json.loads(run(augurpack, "adopt", "--json", path, tmp_path / "store").stdout)
    assert files_of(tmp_path / "store") == {b"000000/%08d.jpg" % i: image for i, image in enumerate(images)}
    assert summary["stored_bytes"] == sum(len(image) for image in images if (image.find(RECORDIO_MAGIC) + 24) % 4 == 0 <= image.find(RECORDIO_MAGIC))
    run(augurpack, "verify", tmp_path / "store")


def test_a_record_without_an_image_is_left_out(augurpack, tmp_path):
    """As the first one of face datasets, which has two numbers."""
    path = write(tmp_path / "x.rec", recordio(image_record(0, [5.0, 9.0], b""), image_record(1, 2, PNG)))
    summary = json.loads(run(augurpack, "adopt", "--json", path, tmp_path / "store").stdout)
    assert summary["left_out"] == 1
    assert files_of(tmp_path / "store") == {b"000002/00000001.png": PNG}


GOOD = recordio(*(image_record(i, i, jpeg(i, 1001)) for i in range(3)))
SECOND = len(recordio(image_record(0, 0, jpeg(0, 1001))))


def damaged(at, data):
    return GOOD[:at] + data + GOOD[at + len(data) :]


@pytest.mark.parametrize("data, cause", [
    (GOOD[:-1], "ends within a record at byte"),
    (GOOD[:-900], "ends within a record at byte"),
    (GOOD[: SECOND + 4], "ends within a record at byte"),
    (GOOD[: SECOND + 8], "ends within a record at byte"),
    (GOOD + bytes(8), "no record begins at byte"),
    (GOOD + b"\0", "ends within a record at byte"),
    (damaged(SECOND, b"\0"), f"no record begins at byte {SECOND}"),
    (damaged(SECOND + 4, struct.pack("<I", 4 << 29 | 1030)), f"no record begins at byte {SECOND}"),
    (damaged(SECOND + 4, struct.pack("<I", (1 << 29) - 1)), "ends within a record at byte"),
    (damaged(SECOND + 4, struct.pack("<I", 100)), "no record begins at byte"),
    (damaged(SECOND + 4, struct.pack("<I", 0)), "has 0 bytes, and the header of an image has 24"),
    (damaged(SECOND + 8, struct.pack("<I", 1 << 30)), "says that it has 1,073,741,824 labels"),
    (damaged(SECOND + 8, struct.pack("<I", 300)), "says that it has 300 labels"),
    (damaged(SECOND + 8, struct.pack("<I", 1)), "is no JPEG, PNG"),
    (recordio_part(2, image_record(0, 0, PNG)), "does not follow"),
    (recordio_part(3, image_record(0, 0, PNG)), "does not follow"),
    (recordio_part(1, image_record(0, 0, PNG)), "ends within a record"),
    (recordio_part(1, image_record(0, 0, PNG)) + recordio(image_record(1, 1, PNG)), "does not follow"),
    (recordio_part(1, b"1") + recordio_part(1, b"2") + recordio_part(3, b"3"), "does not follow"),
    (recordio(b"no image record"), "has 15 bytes"),
    (recordio(image_record(0, 0, bytes(784))), "is no JPEG, PNG"),
], ids=cause_of)  # fmt: skip
def test_bad_files(augurpack, tmp_path, data, cause):
    assert cause in refused(augurpack, write(tmp_path / "x.rec", data))


@pytest.mark.parametrize("text, cause", [(b"0\t1\ta.jpg\n0\t1\tb.jpg\n", "line 2: its number is on an earlier line"),
                                         (b"0 1 a.jpg\n", "line 1: is not of the form"), (b"x\t1\ta.jpg\n", "line 1: is not of the form"),
                                         (b"0\t1\t\n", "line 1: is not of the form"), (b"0\t1\t../a.jpg\n", "has a '..' in it")])  # fmt: skip
def test_bad_lists(augurpack, tmp_path, text, cause):
    path = write(tmp_path / "x.rec", GOOD)
    write(tmp_path / "x.lst", text)
    done = run(augurpack, "adopt", path, tmp_path / "store", ok=(2,))
    assert cause in done.error and str(tmp_path / "x.") in done.error
