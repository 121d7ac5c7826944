# SPDX-License-Identifier: Apache-2.0
"""Views of TFRecord files, read by TensorFlow with its checks of checksums: VIEWS.md, Archives."""

import errno
import json
import os
import pathlib
import random

import pytest
from skips import needs_root
from stores import pack
from system_calls import errno_of

pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

from archive_fixtures import archive_store, archive_tree, ask, mounted, readers, view  # noqa: E402, F401
from archive_readers import Readers  # noqa: E402
from archive_tree import CLASSES  # noqa: E402

pytestmark = needs_root


@pytest.fixture(scope="module")
def samples(archive_tree):
    """(path, label) of a folder in the order of torchvision, by the folder's name. torch has a process of its own."""
    with Readers() as torch:
        return {name: ask(torch, "image_folder", str(archive_tree / name))[0] for name in ("train", "val")}


def examples(readers, keys, paths):
    return ask(readers, "tfrecord", keys, [str(path) for path in paths])


def shards(folder, name, count):
    return [folder / f"{name}-{i:05}-of-{count:05}" for i in range(count)]


@pytest.mark.parametrize("count", [1, 4])
def test_imagenet(mounted, archive_tree, readers, samples, count):
    """Every sample and label, in order, with the features that the scripts of TensorFlow parse."""
    wanted = samples["train"]
    found = examples(readers, "imagenet", shards(view(mounted, f"tfrecord+shards={count}"), "train", count))
    assert len(found) == len(wanted)
    for example, (path, label) in zip(found, wanted):
        data = pathlib.Path(path).read_bytes()
        assert example["image/encoded"] == data
        assert example["image/class/label"] == label + 1
        assert example["image/class/synset"].decode() == os.path.relpath(path, archive_tree / "train").split("/")[0]
        assert example["image/filename"] == os.fsencode(os.path.basename(path))
        with Image.open(path) as image:
            assert (example["image/width"], example["image/height"]) == image.size
            assert example["image/channels"] == len(image.getbands())
        assert example["image/colorspace"] == b"RGB" and example["image/class/text"] == b""
        assert example["image/format"] == (b"PNG" if data[:4] == b"\x89PNG" else b"JPEG")


def test_tfds_keys(mounted, readers, samples):
    folder = view(mounted, "tfrecord+keys=tfds+name=pets+shards=2")
    paths = [folder / f"pets-val.tfrecord-0000{i}-of-00002" for i in range(2)]
    wanted = [(pathlib.Path(path).read_bytes(), label) for path, label in samples["val"]]
    assert [(one["image"], one["label"]) for one in examples(readers, "tfds", paths)] == wanted


def test_labels(mounted, readers):
    """base= shifts labels, and an image without a class has -1 whatever it says."""
    for spec, first in (("tfrecord+base=0+shards=1", 0), ("tfrecord+shards=1", 1)):
        found = examples(readers, "imagenet", shards(view(mounted, spec), "val", 1))
        assert [one["image/class/label"] for one in found] == [first, first + 1]
        flat = examples(readers, "imagenet", shards(view(mounted, spec), "flat", 1))
        assert [one["image/class/label"] for one in flat] == [-1, -1]


def test_names(mounted):
    """name=N is what `val` is called by; indexes are in no listing (W19), since scripts read all of train-*."""
    folder = view(mounted, "tfrecord+shards=2+name=validation")
    names = [f"{name}-0000{i}-of-00002" for name in ("all", "flat", "linked", "train", "validation") for i in range(2)]
    assert sorted(os.listdir(folder)) == sorted([*names, "empty", "flat", "linked", "train", "val"])
    assert (folder / "validation-00000-of-00002.idx").stat().st_size > 0
    for missing in ("val-00000-of-00002", "validation-00000-of-00003", "validation-00002-of-00002", "_info.json",
                    "validation-00000-of-00002.idx.idx"):
        assert errno_of(os.stat, folder / missing) == errno.ENOENT
    assert (view(mounted, "tfrecord+shards=2") / "val-00000-of-00002").exists()


def test_index(mounted):
    """OFFSET and BYTES of each record, as DALI reads them: two numbers a line."""
    path = view(mounted, "tfrecord+shards=3") / "train-00001-of-00003"
    data = path.read_bytes()
    at = 0
    for line in (path.parent / (path.name + ".idx")).read_text(encoding="ascii").splitlines():
        offset, size = map(int, line.split())
        assert offset == at and size == 16 + int.from_bytes(data[at : at + 8], "little")
        at += size
    assert at == len(data)


def test_shuffle(mounted, readers, samples):
    wanted = [pathlib.Path(path).read_bytes() for path, _ in samples["train"]]
    random.Random(7).shuffle(wanted)
    found = examples(readers, "imagenet", shards(view(mounted, "tfrecord+shards=2+shuffle=7"), "train", 2))
    assert [one["image/encoded"] for one in found] == wanted


def test_interleave(mounted, readers, samples):
    """The pipeline of the ImageNet scripts: files by a pattern, several at a time."""
    found = ask(readers, "interleaved", str(view(mounted, "tfrecord+shards=5") / "train-*"))
    assert sorted(found) == sorted(pathlib.Path(path).read_bytes() for path, _ in samples["train"])


def test_any_part_is_the_same(mounted):
    """Also a read of the checksum alone, of a record of two blocks too."""
    path = view(mounted, "tfrecord+shards=1") / "train-00000-of-00001"
    whole = path.read_bytes()
    draw = random.Random(3)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        at = 0
        while at < len(whole):
            at += 16 + int.from_bytes(whole[at : at + 8], "little")
            assert os.pread(descriptor, 4, at - 4) == whole[at - 4 : at]
            assert os.pread(descriptor, 1, at - 2) == whole[at - 2 : at - 1]
        for _ in range(300):
            offset, length = draw.randrange(len(whole)), draw.choice([1, 5000, 128 << 10, 1 << 20])
            assert os.pread(descriptor, length, offset) == whole[offset : offset + length]
    finally:
        os.close(descriptor)


def test_dali(mounted, readers, samples):
    """Its reader takes the index that lies beside each file."""
    paths = [str(path) for path in shards(view(mounted, "tfrecord+shards=3"), "train", 3)]
    wanted = [(pathlib.Path(path).read_bytes(), label + 1) for path, label in samples["train"]]
    assert ask(readers, "dali", paths, len(wanted)) == wanted


def test_tfds_files(mounted, readers):
    """What TFDS reads of a data set: which files there are, what is in them, and where it looks for them."""
    folder = view(mounted, "tfrecord+keys=tfds+name=pets+shards=3")
    info = json.loads((folder / "dataset_info.json").read_text(encoding="utf-8"))
    assert (info["name"], info["version"], info["fileFormat"]) == ("pets", "1.0.0", "tfrecord")
    assert [split["name"] for split in info["splits"]] == ["flat", "linked", "train", "val"]
    for split in info["splits"]:
        assert split["filepathTemplate"] == "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
        files = [folder / f"pets-{split['name']}.tfrecord-0000{i}-of-00003" for i in range(3)]
        assert int(split["numBytes"]) == sum(file.stat().st_size for file in files)
        assert [int(length) for length in split["shardLengths"]] == [len(examples(readers, "tfds", [file])) for file in files]
    labels = (folder / "label.labels.txt").read_text(encoding="utf-8").splitlines()
    assert labels == CLASSES
    features = json.loads((folder / "features.json").read_text(encoding="utf-8"))["featuresDict"]["features"]
    assert features["label"]["classLabel"] == {"numClasses": str(len(labels))}
    assert set(features) == {"image", "file_name", "label"}
    for link in ("pets", "1.0.0"):
        assert os.readlink(folder / link) == "." and link in os.listdir(folder)
    assert (folder / "pets" / "1.0.0" / "dataset_info.json").stat().st_ino == (folder / "dataset_info.json").stat().st_ino
    assert errno_of(os.readlink, folder / "features.json") == errno.EINVAL


@pytest.fixture(scope="module")
def tfds_readers():
    """TFDS is installed apart."""
    with Readers(apart=True) as process:
        yield process


def test_tfds(mounted, tfds_readers, samples):
    """Both ways to a builder, and slices."""
    folder = str(view(mounted, "tfrecord+keys=tfds+name=pets+shards=3"))
    wanted = [(label, os.path.basename(path)) for path, label in samples["train"]]
    for split, part in (("train", wanted), ("train[10:14]", wanted[10:14])):
        assert ask(tfds_readers, "tfds", folder, "pets", split) == [sorted(part)] * 2


def test_tfds_of_classes(room, augurpack, archive_tree, mounts, point, tfds_readers, samples):
    """Of a store whose root has the classes, the split train is all of it, whose archives are called all."""
    mounts.mount(pack(augurpack, archive_tree / "val", room / "store"), point)
    folder = view(point, "tfrecord+keys=tfds+name=pets+shards=2")
    first, *classes = json.loads((folder / "dataset_info.json").read_text(encoding="utf-8"))["splits"]
    assert (first["name"], first["shardLengths"]) == ("train", ["1", "1"]) and [split["name"] for split in classes] == ["a", "c"]
    assert first["filepathTemplate"] == "{DATASET}-all.{FILEFORMAT}-{SHARD_X_OF_Y}"
    assert int(first["numBytes"]) == sum((folder / f"pets-all.tfrecord-0000{i}-of-00002").stat().st_size for i in range(2))
    assert (folder / "label.labels.txt").read_text(encoding="utf-8").splitlines() == ["a", "c"]
    wanted = sorted((label, os.path.basename(path)) for path, label in samples["val"])
    assert ask(tfds_readers, "tfds", str(folder), "pets", "train") == [wanted] * 2


def test_timm(mounted, samples):
    """`tfds/` of timm. It has a process of its own: in one where TensorFlow came before torch, both end."""
    with Readers(apart=True) as timm:
        folder = str(view(mounted, "tfrecord+keys=tfds+name=pets+shards=3"))
        for split in ("train", "val"):
            count, labels = ask(timm, "timm_labels", "tfds/pets", folder, split)
            wanted = sorted(label for _, label in samples[split])
            assert count == len(wanted) and sorted(labels) == wanted
