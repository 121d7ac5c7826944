# SPDX-License-Identifier: Apache-2.0
"""augurpack adopt --as=imagefolder: WebDataset tars as folders of classes."""

import json
import random
import tarfile

import pytest
from pack_support import reader, run, store_entries, store_tree, write
from test_adopt import tar_of
from test_pack_archive import add

RNG = random.Random(8)
IMAGES = {key: RNG.randbytes(3000) for key in ("0001", "0002", "d/0003", "0004")}


def adopt(augurpack, store, *tars, ok=(0,)):
    return run(augurpack, "adopt", "--json", "--as=imagefolder", *tars, store, ok=ok)


def test_classes_from_cls_and_json(augurpack, tmp_path):
    files = {"0001.jpg": IMAGES["0001"], "0001.cls": b"7\n",
             "0002.cls": b"12", "0002.JPEG": IMAGES["0002"], "0002.seg.png": b"a mask", "0002.json": b'{"label": 3}',
             "d/0003.json": json.dumps({"caption": "x", "label": 388}).encode(), "d/0003.png": IMAGES["d/0003"],
             "0004.jpg": IMAGES["0004"], "0004.json": b'{"class_name": "tench"}', "readme": b"no sample"}  # fmt: skip
    path = write(tmp_path / "x.tar", tar_of(files))
    summary = json.loads(adopt(augurpack, tmp_path / "store", path).stdout)
    assert summary["stored_bytes"] == 0 and summary["left_out"] == 7
    assert store_tree(tmp_path / "store")[1] == {b"000007/0001.jpg": IMAGES["0001"], b"000012/0002.JPEG": IMAGES["0002"],
                                                b"000388/d_0003.png": IMAGES["d/0003"], b"tench/0004.jpg": IMAGES["0004"]}  # fmt: skip
    run(augurpack, "verify", tmp_path / "store")
    with reader.Store(tmp_path / "store") as store, tarfile.open(path) as tar:
        assert store_entries(store)[b"000007/0001.jpg"].offset == tar.getmember("0001.jpg").offset_data


def test_the_order_of_folders_is_that_of_the_numbers(augurpack, tmp_path):
    files = {}
    for label in range(0, 120, 7):
        files |= {f"{label}.jpg": b"%d" % label, f"{label}.cls": b"%d" % label}
    write(tmp_path / "x.tar", tar_of(files))
    adopt(augurpack, tmp_path / "store", tmp_path / "x.tar")
    files = store_tree(tmp_path / "store")[1]
    assert [int(files[path]) for path in sorted(files)] == list(range(0, 120, 7))


def test_samples_of_one_name_in_several_tars(augurpack, tmp_path):
    for i in range(2):
        write(tmp_path / f"shard-{i}.tar", tar_of({"0.jpg": b"%d" % i, "0.cls": b"1"}))
    adopt(augurpack, tmp_path / "store", tmp_path / "shard-0.tar", tmp_path / "shard-1.tar")
    assert store_tree(tmp_path / "store")[1] == {b"000001/shard-0-0.jpg": b"0", b"000001/shard-1-0.jpg": b"1"}


def test_a_label_that_lies_across_two_reads(augurpack, tmp_path):
    """The tar is read in pieces of 4 MiB."""
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        add(tar, "0.json", json.dumps({"text": "x" * 700_000, "cls": "first"}).encode())
        add(tar, "0.jpg", b"a" * ((4 << 20) - 702_000 - 1536))
        add(tar, "1.jpg", b"b")
        add(tar, "1.json", json.dumps({"text": "y" * 600_000, "cls": "second"}).encode())
    adopt(augurpack, tmp_path / "store", tmp_path / "x.tar")
    assert set(store_tree(tmp_path / "store")[1]) == {b"first/0.jpg", b"second/1.jpg"}


@pytest.mark.parametrize("files", [{"0.jpg": b"1", "1.jpg": b"2", "1.cls": b"2"}, {"0.jpg": b"1", "0.cls": b" \n"},
                                   {"0.jpg": b"1", "0.json": b'{"label": [1, 2]}'}, {"0.jpg": b"1", "0.json": b"{"},
                                   {"0.jpg": b"1", "0.json": b'{"x": ' + b"[" * 200_000 + b"]" * 200_000 + b', "cls": 1}'},
                                   {"0.jpg": b"1", "0.cls": b"../evil"}, {"0.jpg": b"1", "0.cls": b".."}])  # fmt: skip
def test_a_sample_without_a_class_is_an_error(augurpack, tmp_path, files):
    path = write(tmp_path / "x.tar", tar_of(files))
    done = adopt(augurpack, tmp_path / "store", path, ok=(2,))
    assert f"{path}: 0: " in done.error and "class" in done.error
    assert not (tmp_path / "store" / "manifest").exists()


def test_help_says_for_whom_which_layout_is(augurpack):
    text = " ".join(run(augurpack, "adopt", "--help").stdout.decode().split())
    assert "WebDataset loader needs no store" in text and "torchvision's ImageFolder" in text
