# SPDX-License-Identifier: Apache-2.0
"""augurpack adopt: the images within shards of MosaicML Streaming."""

import json
import os
import struct
import sys

import pytest
from adopt_support import cause_of, files_of, refused, written_by_stock
from container_files import PNG, jpeg, mds, mds_config, mds_sample, mds_shard
from pack_support import reader, run, store_entries, write

COLUMNS = {"image": "jpeg", "label": "int", "name": "str"}


def samples(count):
    return [{"image": jpeg(i), "label": i % 3, "name": f"{i}.JPEG"} for i in range(count)]


def test_folders_by_label(augurpack, tmp_path):
    paths = [write(tmp_path / f"shard.{n:05}.mds", mds(COLUMNS, *samples(20)[n * 10 : n * 10 + 10])) for n in range(2)]
    summary = json.loads(run(augurpack, "adopt", "--json", *paths, tmp_path / "store").stdout)
    assert summary["stored_bytes"] == 0
    assert files_of(tmp_path / "store") == {b"%06d/%d.JPEG" % (i % 3, i): jpeg(i) for i in range(20)}
    with reader.Store(tmp_path / "store") as store:
        assert store_entries(store)[b"000001/4.JPEG"].offset == paths[0].read_bytes().index(jpeg(4))


@pytest.mark.parametrize("encoding, values", [("int8", [-1, 127]), ("uint8", [0, 255]), ("int16", [-300, 300]), ("uint16", [0, 65535]),
                                              ("int32", [-5, 70000]), ("uint32", [0, 70000]), ("int64", [-1, 5]), ("uint64", [0, 5])])  # fmt: skip
def test_numbers(augurpack, tmp_path, encoding, values):
    """A label below zero is none. A name may be any number."""
    columns = {"img": "png", "y": encoding, "key": encoding}
    path = write(tmp_path / "x.mds", mds(columns, *({"img": PNG, "y": v, "key": v} for v in values)))
    run(augurpack, "adopt", "--names-from=key", path, tmp_path / "store")
    assert set(files_of(tmp_path / "store")) == {(f"{v:06}/" if v >= 0 else "").encode() + b"%d.png" % v for v in values}


def test_columns_of_texts_and_bytes(augurpack, tmp_path):
    columns = {"class": "str", "data": "bytes", "width": "int32"}
    path = write(tmp_path / "x.mds", mds(columns, *({"class": c, "data": PNG, "width": 3} for c in ("cat", "dog", "cat"))))
    run(augurpack, "adopt", path, tmp_path / "store")
    assert files_of(tmp_path / "store") == {b"cat/00000000.png": PNG, b"dog/00000001.png": PNG, b"cat/00000002.png": PNG}


def test_a_shard_without_samples(augurpack, tmp_path):
    run(augurpack, "adopt", write(tmp_path / "x.mds", mds(COLUMNS)), tmp_path / "store")
    assert files_of(tmp_path / "store") == {}


def test_files_of_the_stock_writer(augurpack, tmp_path):
    """All samples and labels are those that MosaicML Streaming reads; what is not compressed can be adopted as well."""
    packages = os.environ.get("AUGUR_FORMATS")
    if not packages:
        pytest.skip("AUGUR_FORMATS is not set: it is what `packaging/venv.sh formats` prints")
    wanted = written_by_stock(sys.executable, "mds_files.py", tmp_path, PYTHONPATH=packages)
    assert len(wanted) == 6
    for name, expected in wanted.items():
        paths = [tmp_path / name / shard for shard in expected["shards"]]
        tree = {path.encode(): bytes.fromhex(image) for path, image in expected["files"].items()}
        assert len(tree) == 60, name
        run(augurpack, "create", *paths, tmp_path / f"{name}.copied")
        assert files_of(tmp_path / f"{name}.copied") == tree, name
        if expected["adopts"]:
            summary = json.loads(run(augurpack, "adopt", "--json", *paths, tmp_path / f"{name}.adopted").stdout)
            assert summary["stored_bytes"] == 0 and files_of(tmp_path / f"{name}.adopted") == tree, name
            run(augurpack, "verify", tmp_path / f"{name}.adopted")
        else:
            refused(augurpack, paths[0])


GOOD = mds(COLUMNS, *samples(3))
CONFIG = mds_config(COLUMNS)
PACKED = [mds_sample(COLUMNS, sample) for sample in samples(3)]


def with_number(at, number):
    return GOOD[:at] + struct.pack("<I", number) + GOOD[at + 4 :]


def with_config(**changes):
    return mds_shard(PACKED, CONFIG | changes)


@pytest.mark.parametrize("data, cause", [
    (GOOD[:-1], f"its last sample ends at byte {len(GOOD)}, and it has {len(GOOD) - 1} bytes"),
    (GOOD[:1000], f"its last sample ends at byte {len(GOOD)}, and it has 1000 bytes"),
    (GOOD + b"\0", f"its last sample ends at byte {len(GOOD)}, and it has {len(GOOD) + 1} bytes"),
    (with_number(8, 1), "the offsets of its samples are not in order"),
    (with_number(12, 1 << 31), "the offsets of its samples are not in order"),
    (with_number(16, 0), "the offsets of its samples are not in order"),
    (with_number(8, struct.unpack_from("<I", GOOD, 8)[0] + 1), "sample 0 at byte"),
    (with_number(8, struct.unpack_from("<I", GOOD, 8)[0] - 1), "sample 0 at byte"),
    (with_number(0, 2), "is not an uncompressed tar, and no other container"),
    (with_number(0, (1 << 32) - 1), "is not an uncompressed tar, and no other container"),
    (with_number(4, 0), "is not an uncompressed tar, and no other container"),
    (with_number(4, (1 << 32) - 1), "is not an uncompressed tar, and no other container"),
    (mds_shard([PACKED[0], struct.pack("<II", 1 << 31, 6) + PACKED[1][8:], PACKED[2]], CONFIG), "the sizes of its columns do not fit"),
    (mds_shard([PACKED[0], b"", PACKED[2]], CONFIG), "the sizes of its columns do not fit"),
    (mds_shard([PACKED[0] + b"?"], CONFIG), "the sizes of its columns do not fit"),
    (mds_shard(PACKED, '{"format": "mds", ['), "its description of columns is broken"),
    (mds_shard(PACKED, '{"format": "mds"}'), "its description of columns is broken"),
    (with_config(column_sizes=[None]), "its description of columns is broken"),
    (with_config(column_sizes=[None, -1, None]), "its description of columns is broken"),
    (with_config(column_sizes=[None, 1 << 60, None]), "the sizes of its columns do not fit"),
    (with_config(column_sizes=[None, 7, None]), "the sizes of its columns do not fit"),
    (with_config(column_names=[1, 2, 3]), "its description of columns is broken"),
    (with_config(column_encodings=["pil", "int", "str"]), "no column has image files (its columns are 'image' (pil), 'label' (int)"),
    (with_config(column_encodings=["ndarray:uint8", "int", "str"]), "no column has image files"),
    (mds({"a": "jpeg", "b": "png"}, {"a": PNG, "b": PNG}), "several columns may have the image"),
    (mds({"a": "bytes"}, {"a": bytes(784)}), "is no JPEG, PNG"),
    (mds({"a": "bytes", "label": "str"}, {"a": PNG, "label": ".."}), "cannot be the name of a folder"),
], ids=cause_of)  # fmt: skip
def test_bad_files(augurpack, tmp_path, data, cause):
    assert cause in refused(augurpack, write(tmp_path / "x.mds", data))


def test_a_description_that_nests(augurpack, tmp_path):
    data = mds_shard(PACKED, '{"format": "mds", "x": %s}' % ("[" * 200_000 + "]" * 200_000))
    assert "its description of columns is broken" in refused(augurpack, write(tmp_path / "x.mds", data))


def test_names_that_are_not_there(augurpack, tmp_path):
    path = write(tmp_path / "x.mds", GOOD)
    assert "has no names in 'file'" in refused(augurpack, path, "--names-from=file")
    assert "has no names in 'image'" in refused(augurpack, path, "--names-from=image")
