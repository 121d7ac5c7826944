# SPDX-License-Identifier: Apache-2.0
"""Stores of images that lie in containers of other libraries (augurpack adopt): each is read through a mount and compared."""

import errno
import os
import pathlib
import sys
import zipfile

import pytest

from kernel_caches import drop_caches
from odd_tree import noise
from program_runs import run
from skips import needs_root
from system_calls import errno_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from container_files import RECORDIO_MAGIC, image_record, mds, recordio  # noqa: E402
from lmdb_writer import database  # noqa: E402

pytestmark = needs_root


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """A folder of classes, with files below and above a block of 1 MiB."""
    top = tmp_path_factory.mktemp("images")
    for label, name in enumerate(("cat", "dog", "été")):
        (top / name).mkdir()
        for number in range(7):
            size = (2 << 20) + 17 if (label, number) == (1, 3) else 20_000 + 777 * number
            split = RECORDIO_MAGIC if number == 5 else b""
            (top / name / f"{name}_{number}.JPEG").write_bytes(b"\xff\xd8\xff\xe0" + split + noise(size, label * 100 + number))
    return top


@pytest.fixture(scope="module")
def tfrecords(images, tmp_path_factory):
    out = tmp_path_factory.mktemp("tfrecords")
    done = run([sys.executable, pathlib.Path(__file__).with_name("tfrecord_writer.py"), images, out])
    assert done.returncode == 0, done.stderr
    return out


def contents(top):
    return {str(path.relative_to(top)): path.read_bytes() for path in pathlib.Path(top).glob("**/*") if path.is_file()}


def adopt(augurpack, *words):
    done = run([augurpack, "adopt", "--quiet", *words])
    assert done.returncode == 0, done.stderr


def assert_mount_equals(mounts, store, point, wanted):
    mounts.mount(store, point)
    for _ in range(2):
        assert contents(point) == wanted
        drop_caches()


@pytest.mark.parametrize("files", ["imagenet-*", "tfds/x.*"])
def test_records_of_tensorflow(augurpack, room, mounts, point, images, tfrecords, files):
    """R1: the samples of TensorFlow's writer are the files that it was given."""
    adopt(augurpack, *sorted(tfrecords.glob(files)), room / "store")
    assert sum(path.stat().st_size for path in (room / "store").iterdir()) < 1 << 20
    assert_mount_equals(mounts, room / "store", point, contents(images))


def test_records_of_mxnet(augurpack, room, mounts, point, images):
    """R1: with the list beside it the tree is the folder; an image in each class lies in parts."""
    paths = sorted(images.glob("*/*"))
    (room / "x.rec").write_bytes(recordio(*(image_record(number, 0, path.read_bytes()) for number, path in enumerate(paths))))
    (room / "x.lst").write_text("".join(f"{n}\t0.0\t{path.relative_to(images)}\n" for n, path in enumerate(paths)), encoding="utf-8")
    adopt(augurpack, room / "x.rec", room / "store")
    assert_mount_equals(mounts, room / "store", point, contents(images))


def test_shards_of_streaming_a_tar_and_a_zip_in_one_tree(augurpack, room, mounts, point, images):
    """R1: containers of several kinds make one tree."""
    paths = sorted(images.glob("*/*"))
    for shard in range(2):
        (room / f"shard.{shard:05}.mds").write_bytes(mds({"image": "jpeg", "label": "str", "name": "str"}, *(
            {"image": path.read_bytes(), "label": path.parent.name, "name": path.name} for path in paths[shard::4])))  # fmt: skip
    done = run(["tar", "-C", images, "-cf", room / "x.tar", *(path.relative_to(images) for path in paths[2::4])])
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(room / "x.zip", "w") as archive:
        for path in paths[3::4]:
            archive.write(path, path.relative_to(images))
    adopt(augurpack, *sorted(room.glob("*.mds")), room / "x.tar", room / "x.zip", room / "store")
    assert_mount_equals(mounts, room / "store", point, contents(images))


def test_database_of_lmdb(augurpack, room, mounts, point, images):
    """R1: of LMDB's own library, with keys that are paths."""
    with database(room / "data.mdb") as data:
        data.transaction((os.fsencode(path.relative_to(images)), path.read_bytes()) for path in images.glob("*/*"))
    adopt(augurpack, room / "data.mdb", room / "store")
    assert_mount_equals(mounts, room / "store", point, contents(images))


def test_record_that_changed(augurpack, room, mounts, point, images, tfrecords):
    """R2, R3: bytes that were changed since are never shown, and the others are."""
    path = room / "changed"
    data = bytearray((tfrecords / "imagenet-0-of-2").read_bytes())
    path.write_bytes(data)
    adopt(augurpack, path, room / "store")
    victim = images / "cat" / "cat_2.JPEG"
    data[data.index(victim.read_bytes()) + 5000] ^= 1
    path.write_bytes(data)
    mounts.mount(room / "store", point)
    assert errno_of((point / "cat" / victim.name).read_bytes) == errno.EIO
    assert (point / "cat" / "cat_0.JPEG").read_bytes() == (images / "cat" / "cat_0.JPEG").read_bytes()
    os.truncate(path, len(data) - 1)
    drop_caches()
    assert errno_of((point / "cat" / victim.name).read_bytes) == errno.EIO
